/** The whole style of the page at `/docs`. */
export const docsStyle = `
:root {
  color-scheme: light dark;
  --text: #1c2430; --soft: #5a6675; --line: #dfe4ea; --page: #ffffff; --panel: #f5f7f9; --link: #0b62c4;
  --get: #0a6b58; --post: #9a4a00; --delete: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e6eaf0; --soft: #9aa6b5; --line: #2c3540; --page: #12161c; --panel: #1b2129; --link: #7ab8ff;
    --get: #5fd3b7; --post: #ffb066; --delete: #ff8a80;
  }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1rem; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
a { color: var(--link); }
code, pre { font: 0.875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.page { display: grid; grid-template-columns: 15rem minmax(0, 48rem); gap: 3rem; max-width: 70rem; margin: 0 auto; padding: 0 1.5rem 6rem; }
nav { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow-y: auto; padding: 2rem 0; font-size: 0.9rem; }
nav ul { list-style: none; margin: 0 0 1rem; padding: 0; }
nav li { margin: 0.15rem 0; }
nav a { color: inherit; text-decoration: none; }
nav a:hover, nav a:focus-visible { color: var(--link); text-decoration: underline; }
nav strong { display: block; color: var(--soft); font-weight: 600; }
h1 { margin: 2rem 0 0.5rem; font-size: 2rem; line-height: 1.2; }
h2 { margin: 4rem 0 0.5rem; padding-top: 1rem; border-top: 1px solid var(--line); font-size: 1.5rem; }
h3 { margin: 3rem 0 0.25rem; font-size: 1.2rem; }
h4 { margin: 1.75rem 0 0.5rem; font-size: 0.95rem; }
h4 small, dt small, .soft { color: var(--soft); font-weight: 400; }
h3 a, h2 a { color: inherit; text-decoration: none; }
.route { margin: 0 0 0.75rem; }
.method { display: inline-block; min-width: 4.2em; font-weight: 700; }
.get { color: var(--get); } .post { color: var(--post); } .delete { color: var(--delete); }
pre { margin: 0.25rem 0 1rem; padding: 0.8rem 1rem; overflow-x: auto; background: var(--panel); border: 1px solid var(--line); border-radius: 6px; overflow-wrap: normal; }
figure { margin: 0.75rem 0 0; }
figcaption { color: var(--soft); font-size: 0.875rem; }
dl { margin: 0; border-top: 1px solid var(--line); }
dl > div { display: grid; grid-template-columns: minmax(9rem, 16rem) 1fr; gap: 0 1.25rem; padding: 0.5rem 0; border-bottom: 1px solid var(--line); }
dl.refusals > div { grid-template-columns: 3rem 1fr; }
dd p > code { font-size: 0.875em; }
dt small { display: block; font-size: 0.8125rem; }
dd { margin: 0; }
dd p { margin: 0; }
.must { color: var(--post); }
details { margin: 0.75rem 0; }
summary { cursor: pointer; font-weight: 600; font-size: 0.95rem; }
@media (max-width: 56rem) {
  .page { display: block; padding: 0 1rem 4rem; }
  nav { position: static; max-height: 40vh; padding: 1rem 0 0; border-bottom: 1px solid var(--line); columns: 2; }
  nav ul { break-inside: avoid; }
}
@media (max-width: 36rem) {
  nav { columns: 1; }
  dl > div { grid-template-columns: 1fr; }
}
@media print { nav { display: none; } .page { display: block; } }
`;
