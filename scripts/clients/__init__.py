"""Real eval clients against the drop-in endpoint; a package only so that its tests are found."""
