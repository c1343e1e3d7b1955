"""Media: pictures, sound and subtitles out of a file, by time.

Enters: a path. Leaves: what the file holds (`probe`), its identity (`identity`), every shown
picture in order (`decode`), exact pictures at given times (`pictures`), sound (`sound`),
subtitle cues (`subtitles`), arrays and JPEG (`convert`, `orient`, `jpeg`, `sheet`) and the
clip that ships with the package (`demo`). One clock everywhere: seconds from the first shown
picture; `packets` sets it right before anything is decoded. What is missing from a damaged
file is counted (`damage`). Opens local media files only: scripts and playlists that name
other files are refused (`container`). May import: schema, PyAV, numpy, OpenCV.
"""
