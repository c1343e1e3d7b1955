"""The style sheet: light, and dark where the reader's system is."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark; --ink: #1d1f23; --faint: #5d636e; --line: #d9dce2;
  --paper: #ffffff; --stripe: #f5f6f8;
  --c0: #1f6fb4; --c1: #c4540a; --c2: #2a7f3f; --c3: #8a3fa0; --c4: #b3261e; --c5: #00798a;
  --c6: #7a5c00; --c7: #5a5f6b; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8ec; --faint: #a2a8b4; --line: #3a3f48; --paper: #15171b;
    --stripe: #1d2025;
    --c0: #6fb3f2; --c1: #f29a5b; --c2: #74c98a; --c3: #cf9be0; --c4: #f08b84; --c5: #5fc6d6;
    --c6: #d9bd5a; --c7: #aeb4c0; } }
body { margin: 0 auto; max-width: 76rem; padding: 1.5rem; background: var(--paper);
  color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .5rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
p, li { max-width: 52rem; } .faint, dt { color: var(--faint); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: 0; }
dd { margin: 0; overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; white-space: pre-wrap; }
th { color: var(--faint); font-weight: 600; }
td { max-width: 26rem; overflow-wrap: break-word; }
td.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
tbody tr:nth-child(even) { background: var(--stripe); }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); gap: 1rem; }
svg { width: 100%; height: auto; font: 12px system-ui, sans-serif; fill: var(--ink); }
svg .grid { stroke: var(--line); } svg .axis { stroke: var(--faint); }
svg .mid { text-anchor: middle; } svg .end { text-anchor: end; } svg .name { fill: var(--faint); }
svg .point line { stroke-width: 1.5; } svg .point text { font-weight: 600; }
.legend { list-style: none; padding: 0; } .legend b { display: inline-block; min-width: 1.5rem; }
""" + "\n".join(
    f"svg .c{i} {{ fill: var(--c{i}); stroke: none; }} svg .c{i} line {{ stroke: var(--c{i}); }} "
    f".legend .c{i} b {{ color: var(--c{i}); }}"
    for i in range(8)
)
