/** The style of the reference page. It stands inside the page, and the content policy knows its digest. */
export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --ground: #fbfaf8; --panel: #f1efea; --line: #dedad2; --ink: #1d1f21; --soft: #5a5e63; --accent: #0f5f4a;
  --code-ground: #1c2422; --code-ink: #e3ece8; --code-soft: #93a8a0;
  --get: #1f5f99; --post: #0f6a4b; --delete: #a5282c; --warn: #92480a;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #141716; --panel: #1d2220; --line: #303734; --ink: #e6e9e7; --soft: #a3aba7; --accent: #6fd3ae;
    --code-ground: #0c0f0e; --code-ink: #dbe6e1; --code-soft: #8da198;
    --get: #7db8ee; --post: #6fd3ae; --delete: #f28b8b; --warn: #e6ab6c;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 4rem; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
a { color: var(--accent); text-underline-offset: .15em; }
a:focus-visible, summary:focus-visible, pre:focus-visible, .wide:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
code { font-family: var(--mono); font-size: .875em; overflow-wrap: anywhere; }
p { margin: 0 0 .8rem; max-width: 68ch; }
.skip { position: absolute; left: -999rem; }
.skip:focus { left: 1rem; top: 1rem; z-index: 3; background: var(--ground); padding: .5rem 1rem; }
.top { position: sticky; top: 0; z-index: 2; display: flex; align-items: center; gap: 1.25rem; height: 3.25rem; padding: 0 1.5rem; background: var(--ground); border-bottom: 1px solid var(--line); font-size: .9rem; }
.brand { color: inherit; text-decoration: none; font-weight: 700; margin-right: auto; white-space: nowrap; }
.brand span { font-weight: 400; color: var(--soft); }
.version { color: var(--soft); }
.to-menu { display: none; }
.frame { display: grid; grid-template-columns: 15.5rem minmax(0, 1fr); max-width: 92rem; margin: 0 auto; }
.side { position: sticky; top: 3.25rem; height: calc(100vh - 3.25rem); overflow-y: auto; padding: 1.25rem 1rem 3rem 1.5rem; border-right: 1px solid var(--line); font-size: .875rem; }
nav h2 { margin: 1.4rem 0 .3rem; font-size: .8rem; line-height: 1.4; color: var(--soft); font-weight: 600; border: 0; padding: 0; }
nav h2:first-child { margin-top: 0; }
nav h2 a { color: inherit; text-decoration: none; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li a { display: block; padding: .2rem .5rem; margin-left: -.5rem; border-radius: .3rem; color: var(--ink); text-decoration: none; line-height: 1.4; }
nav a:hover { text-decoration: underline; }
nav li a:hover { background: var(--panel); }
main { min-width: 0; padding: 2rem 2.5rem 6rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .75rem; letter-spacing: -.015em; }
h2 { font-size: 1.35rem; line-height: 1.3; margin: 2.5rem 0 .6rem; }
h3 { font-size: 1.15rem; line-height: 1.3; margin: 0 0 .4rem; }
h4 { font-size: .9rem; margin: 1.5rem 0 .3rem; color: var(--soft); font-weight: 600; }
.base code { background: var(--panel); padding: .2rem .5rem; border-radius: .3rem; }
.prose { max-width: 52rem; }
.prose p code, .scope code { background: var(--panel); padding: .1em .3em; border-radius: .25rem; }
.wide { overflow-x: auto; margin: 0 0 1rem; }
table { border-collapse: collapse; font-size: .875rem; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .4rem .9rem .4rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; }
td code { overflow-wrap: normal; }
.tag > h2 { margin-top: 4rem; padding-top: 1.5rem; border-top: 2px solid var(--ink); font-size: 1.6rem; }
.operation { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 26rem); gap: 0 2.5rem; padding: 2rem 0; border-top: 1px solid var(--line); }
.object { padding: 2rem 0; border-top: 1px solid var(--line); max-width: 52rem; }
.endpoint { font-family: var(--mono); font-size: .9rem; margin-bottom: .8rem; }
.endpoint code { font-size: 1em; }
.method { font-weight: 700; font-size: .85em; margin-right: .35rem; }
.get { color: var(--get); } .post { color: var(--post); } .delete { color: var(--delete); }
.scope { color: var(--soft); font-size: .9rem; }
.scope code { color: var(--ink); }
.fields, .errors { list-style: none; margin: 0; padding: 0; font-size: .925rem; }
.fields > li { padding: .55rem 0; border-top: 1px solid var(--line); }
.fields > li:first-child, .errors > li:first-child { border-top: 0; }
.field { display: flex; flex-wrap: wrap; align-items: baseline; column-gap: .65rem; }
.name { font-weight: 600; }
.type, .bound { color: var(--soft); font-size: .85rem; }
a.type { color: var(--accent); }
.required { color: var(--warn); font-size: .8rem; font-weight: 600; }
.fields p { margin: .1rem 0 0; color: var(--ink); }
.values { display: flex; flex-wrap: wrap; gap: .3rem; padding-top: .3rem; }
.values code, details .values code { background: var(--panel); padding: .05rem .4rem; border-radius: .25rem; font-size: .8rem; }
.fields details summary { cursor: pointer; color: var(--soft); font-size: .85rem; }
.errors > li { padding: .35rem 0; border-top: 1px solid var(--line); display: flex; flex-wrap: wrap; column-gap: .6rem; align-items: baseline; }
.errors a { text-decoration: none; }
.errors a:hover { text-decoration: underline; }
.errors span:last-child { color: var(--soft); }
.status { font-family: var(--mono); font-size: .85em; font-weight: 600; }
figure { margin: 0 0 1.25rem; background: var(--code-ground); color: var(--code-ink); border-radius: .5rem; overflow: hidden; }
figcaption { padding: .5rem 1rem; color: var(--code-soft); font-size: .8rem; border-bottom: 1px solid #ffffff1f; }
pre { margin: 0; padding: .9rem 1rem; overflow: auto; max-height: 34rem; font: .8rem/1.55 var(--mono); }
pre code { font-size: 1em; overflow-wrap: normal; }
.code { padding-top: .3rem; }
.menu { display: none; }
@media (max-width: 75rem) {
  .operation { grid-template-columns: minmax(0, 1fr); }
  .code { padding-top: 1.5rem; }
}
@media (max-width: 52rem) {
  .frame { grid-template-columns: minmax(0, 1fr); }
  .side, .version { display: none; }
  .top { padding: 0 1rem; gap: 1rem; }
  .to-menu { display: inline; }
  main { padding: 1.25rem 1rem 4rem; }
  h1 { font-size: 1.6rem; }
  table { font-size: .8rem; }
  th, td { padding-right: .6rem; }
  .menu { display: block; margin: 1rem 0 1.25rem; border: 1px solid var(--line); border-radius: .5rem; }
  .menu summary { padding: .7rem 1rem; cursor: pointer; font-weight: 600; }
  .menu nav { padding: 0 1rem 1rem; }
  .menu li a { padding: .45rem .5rem; }
}
@media (max-width: 30rem) { .brand span { display: none; } }
@media print {
  .side, .top, .menu, .skip { display: none; }
  .frame, .operation { display: block; }
  pre { max-height: none; white-space: pre-wrap; }
}
`
