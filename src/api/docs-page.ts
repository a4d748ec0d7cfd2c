/**
 * A page that shows the service's own document of its interface. It loads nothing from another
 * host, and its policy forbids it to.
 */

import { docsIntroduction } from './docs-introduction.ts'

/** What the page may do: run its own script, use its own style, ask this service. */
export const DOCS_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The page. */
export const DOCS_HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Nyala REST interface</title>
<link rel="stylesheet" href="/api/docs/docs.css">
</head>
<body>
<header>
<h1>Nyala REST interface</h1>
<p>The document itself: <a href="/api/v1/spec">/api/v1/spec</a></p>
</header>
<main>
${docsIntroduction()}
<h2>Operations</h2>
<nav id="contents" aria-label="Operations"></nav>
<div id="operations"><p>Loading…</p></div>
<h2>Schemas in several places</h2>
<div id="schemas"></div>
</main>
<script src="/api/docs/docs.js"></script>
</body>
</html>
`

/** Its style. */
export const DOCS_CSS = `:root { color-scheme: light dark; --line: #8885; --quiet: #888; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 62rem; padding: 1rem; }
code, pre, .path { font-family: ui-monospace, monospace; font-size: 0.92em; }
nav ul { columns: 2; list-style: none; padding: 0; }
nav a { text-decoration: none; }
section.operation { border-top: 1px solid var(--line); padding: 0.5rem 0 1rem; }
.method { display: inline-block; font-weight: 700; min-width: 4.5rem; text-transform: uppercase; }
.quiet { color: var(--quiet); }
table { border-collapse: collapse; margin: 0.5rem 0; width: 100%; }
td { border-bottom: 1px solid var(--line); padding: 0.2rem 0.6rem 0.2rem 0; }
th { border-bottom: 1px solid var(--line); padding: 0.2rem 0.6rem 0.2rem 0; }
td, th { text-align: left; vertical-align: top; }
pre { border: 1px solid var(--line); overflow-x: auto; padding: 0.6rem; position: relative; }
pre button { position: absolute; right: 0.4rem; top: 0.4rem; }
div.answer { margin: 0.3rem 0; }
ul.schema { border-left: 1px solid var(--line); list-style: none; }
ul.schema { margin: 0 0 0 0.3rem; padding-left: 0.8rem; }
`
