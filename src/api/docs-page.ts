/**
 * A page that shows the service's own document of its interface. It loads nothing from another
 * host, and its policy forbids it to.
 */

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
<nav id="contents" aria-label="Operations"></nav>
<main id="operations"><p>Loading…</p></main>
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
td { text-align: left; vertical-align: top; }
ul.schema { border-left: 1px solid var(--line); list-style: none; }
ul.schema { margin: 0 0 0 0.3rem; padding-left: 0.8rem; }
`

/** Its script: turns the document into the page. */
export const DOCS_JS = `'use strict'
const METHODS = ['get', 'post', 'put', 'patch', 'delete']
let spec

function element(name, attributes, ...children) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...children)
  return made
}

function quiet(text) {
  return element('span', { class: 'quiet' }, text)
}

function resolve(schema) {
  const name = schema && schema.$ref ? schema.$ref.split('/').pop() : undefined
  return name === undefined ? [schema || {}, ''] : [spec.components.schemas[name], name]
}

function typeText(schema, name) {
  if (name !== '') return name
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const union = schema.anyOf || schema.oneOf
  if (union) return union.map((it) => typeText(...resolve(it))).join(' | ')
  if (schema.type === 'array') return 'list of ' + typeText(...resolve(schema.items))
  return Array.isArray(schema.type) ? schema.type.join(' | ') : schema.type || 'any'
}

function schemaView(reference, seen) {
  const [schema, name] = resolve(reference)
  if (name !== '' && seen.includes(name)) return element('span', {}, '')
  const path = name === '' ? seen : [...seen, name]
  const union = schema.anyOf || schema.oneOf
  if (union) return element('div', {}, ...union.map((it) => schemaView(it, path)))
  if (schema.type === 'array') return schemaView(schema.items, path)
  if (!schema.properties) return quiet(schema.description || '')
  const required = schema.required || []
  const items = Object.entries(schema.properties).map(([member, property]) => {
    const [inner, innerName] = resolve(property)
    const about = inner.description ? ' — ' + inner.description : ''
    return element('li', {},
      element('code', {}, member + (required.includes(member) ? '' : '?')), ' ',
      quiet(typeText(inner, innerName) + about),
      schemaView(property, path))
  })
  return element('ul', { class: 'schema' }, ...items)
}

function contentView(content) {
  return Object.entries(content || {}).map(([type, { schema }]) => {
    const name = quiet(typeText(...resolve(schema)))
    return element('div', {}, element('code', {}, type), ' ', name, schemaView(schema, []))
  })
}

function parametersView(parameters) {
  if (!parameters || parameters.length === 0) return ''
  const rows = parameters.map((it) => element('tr', {},
    element('td', {}, element('code', {}, it.name + (it.required ? '' : '?'))),
    element('td', { class: 'quiet' }, it.in),
    element('td', {}, typeText(...resolve(it.schema))),
    element('td', { class: 'quiet' }, it.description || '')))
  return element('table', {}, element('tbody', {}, ...rows))
}

function operationView(id, method, path, operation) {
  const body = operation.requestBody ? contentView(operation.requestBody.content) : []
  const answers = Object.entries(operation.responses).map(([status, answer]) => {
    const contents = contentView(answer.content)
    return element('div', {}, element('strong', {}, status), ' ', answer.description, ...contents)
  })
  return element('section', { class: 'operation', id },
    element('h3', {}, ...placeView(method, path)),
    element('p', {}, operation.summary || ''),
    parametersView(operation.parameters),
    ...(body.length > 0 ? [element('h4', {}, 'Body'), ...body] : []),
    element('h4', {}, 'Answers'), ...answers)
}

function placeView(method, path) {
  const verb = element('span', { class: 'method' }, method)
  return [verb, element('span', { class: 'path' }, path)]
}

function show() {
  const links = []
  const sections = []
  for (const [path, item] of Object.entries(spec.paths)) {
    for (const method of METHODS.filter((name) => item[name])) {
      const id = method + path.replaceAll(/[^a-z_]+/gi, '-')
      links.push(element('li', {}, element('a', { href: '#' + id }, ...placeView(method, path))))
      sections.push(operationView(id, method, path, item[method]))
    }
  }
  document.getElementById('contents').replaceChildren(element('ul', {}, ...links))
  document.getElementById('operations').replaceChildren(...sections)
}

fetch('/api/v1/spec').then((answer) => answer.json()).then((document_) => {
  spec = document_
  show()
}, (error) => {
  document.getElementById('operations').replaceChildren(String(error))
})
`
