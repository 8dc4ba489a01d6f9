"""Line-parallel text: line i of every stream belongs to segment i."""
