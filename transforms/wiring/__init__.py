"""What the Beam code of all rooms needs: steps, threads, coders, filesystems and object stores."""
