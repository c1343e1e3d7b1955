"""Media: pictures, sound and subtitles out of a file, by time.

Enters: a path. Leaves: what the file holds (`probe`), its identity (`identity`), every shown
picture in order (`decode`), exact pictures at given times (`pictures`), sound (`sound`) and
subtitle cues (`subtitles`). One clock everywhere: seconds from the first shown picture.
Opens local media files only: scripts and playlists that name other files are refused
(`container`). May import: schema, PyAV, numpy, OpenCV.
"""
