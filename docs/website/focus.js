// Wide tables scroll in boxes that the theme makes. With the focus, the keyboard can scroll them.
document$.subscribe(() => {
  requestAnimationFrame(() => {
    for (const box of document.querySelectorAll(".md-typeset__scrollwrap")) box.tabIndex = 0
  })
})
