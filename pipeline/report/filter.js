const table = document.querySelector(".examples");
const [system, slice, words, count] = document.querySelectorAll(".filter :is(select, input, output)");
const rows = [...table.tBodies[0].rows];

function has(element, name, wanted) {
  return !wanted || element.dataset[name].split(" ").includes(wanted);
}

function filter() {
  let shown = 0;
  for (const row of rows) {
    row.hidden = !has(row, "systems", system.value) || !has(row, "slices", slice.value)
      || !row.textContent.toLowerCase().includes(words.value.toLowerCase());
    shown += !row.hidden;
  }
  count.textContent = `${shown} of ${rows.length} segments`;
}

document.querySelector(".filter").addEventListener("input", filter);
filter();
