/** The script of the documentation page: turns the service's document into the page's lists. */

/** The script. Runs in a browser. */
export const DOCS_SCRIPT = `'use strict'
const METHODS = ['get', 'post', 'put', 'patch', 'delete']
// Headers of every request or answer, which the introduction tells of.
const COMMON_HEADERS = ['Nyala-Request-Id', 'Nyala-Propagated-Timestamp']
let spec
// Names of the schemas that several places refer to: each is shown once.
let shared

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
  const type = Array.isArray(schema.type) ? schema.type.join(' | ') : schema.type || 'any'
  const isBounded = schema.minimum !== undefined && schema.maximum !== undefined
  return isBounded ? type + ' from ' + schema.minimum + ' to ' + schema.maximum : type
}

function typeView(schema, name) {
  if (shared.includes(name)) return element('a', { href: '#schema-' + name }, name)
  return quiet(typeText(schema, name))
}

// The members of what a schema describes, or nothing when it has none.
function membersView(reference, seen) {
  const [schema, name] = resolve(reference)
  if (name !== '' && (shared.includes(name) || seen.includes(name))) return []
  const path = name === '' ? seen : [...seen, name]
  const union = schema.anyOf || schema.oneOf
  if (union) return union.flatMap((it) => linkView(it).concat(membersView(it, path)))
  if (schema.type === 'array') return linkView(schema.items).concat(membersView(schema.items, path))
  if (!schema.properties) return []
  const required = schema.required || []
  const items = Object.entries(schema.properties).map(([member, property]) => {
    const [inner, innerName] = resolve(property)
    return element('li', {},
      element('code', {}, member + (required.includes(member) ? '' : '?')), ' ',
      typeView(inner, innerName), quiet(aboutText(property)),
      ...membersView(property, path))
  })
  return [element('ul', { class: 'schema' }, ...items)]
}

// A link to a shared schema that is only a part of the type whose text was shown.
function linkView(reference) {
  const [schema, name] = resolve(reference)
  return shared.includes(name) ? [' ', typeView(schema, name)] : []
}

function aboutText(reference) {
  const [schema] = resolve(reference)
  const [item] = schema.type === 'array' ? resolve(schema.items) : [{}]
  const about = schema.description || item.description
  return about ? ' — ' + about : ''
}

function contentView(content) {
  const typesOf = new Map()
  for (const [type, { schema }] of Object.entries(content || {})) {
    const key = JSON.stringify(schema)
    typesOf.set(key, [...(typesOf.get(key) || []), type])
  }
  return [...typesOf].map(([key, types]) => {
    const schema = JSON.parse(key)
    return element('div', {}, element('code', {}, types.join(', ')), ' ',
      typeView(...resolve(schema)), quiet(aboutText(schema)), ...membersView(schema, []))
  })
}

function parametersView(parameters) {
  const own = (parameters || []).filter((it) => !COMMON_HEADERS.includes(it.name))
  if (own.length === 0) return ''
  const rows = own.map((it) => element('tr', {},
    element('td', {}, element('code', {}, it.name + (it.required ? '' : '?'))),
    element('td', { class: 'quiet' }, it.in),
    element('td', {}, typeText(...resolve(it.schema))),
    element('td', { class: 'quiet' }, it.description || '')))
  return element('table', {}, element('tbody', {}, ...rows))
}

function answerView(status, answer) {
  const headers = Object.entries(answer.headers || {})
    .filter(([name]) => !COMMON_HEADERS.includes(name))
    .map(([name, header]) => element('div', {},
      element('code', {}, name), quiet(' — ' + header.description)))
  return element('div', { class: 'answer' },
    element('strong', {}, status), ' ', answer.description, ...headers,
    ...contentView(answer.content))
}

function operationView(id, method, path, operation) {
  const body = operation.requestBody ? contentView(operation.requestBody.content) : []
  const answers = Object.entries(operation.responses)
    .filter(([status]) => status !== 'default')
    .map(([status, answer]) => answerView(status, answer))
  const isOpen = operation.security && operation.security.length === 0
  return element('section', { class: 'operation', id },
    element('h3', {}, ...placeView(method, path)),
    element('p', {}, operation.summary || '', quiet(isOpen ? ' — open to all' : '')),
    parametersView(operation.parameters),
    ...(body.length > 0 ? [element('h4', {}, 'Body'), ...body] : []),
    element('h4', {}, 'Answers'), ...answers,
    element('div', { class: 'answer' }, 'else a ',
      element('a', { href: '#schema-Problem' }, 'Problem')))
}

function placeView(method, path) {
  const verb = element('span', { class: 'method' }, method)
  return [verb, element('span', { class: 'path' }, path)]
}

function schemaSection(name) {
  const schema = spec.components.schemas[name]
  const others = shared
  shared = shared.filter((other) => other !== name)
  const members = membersView(schema, [name])
  shared = others
  return element('section', { class: 'operation', id: 'schema-' + name },
    element('h3', {}, name),
    element('p', { class: 'quiet' }, schema.description || ''), ...members)
}

function sharedNames() {
  const uses = new Map()
  for (const [, name] of JSON.stringify(spec).matchAll(/"#\\/components\\/schemas\\/(\\w+)"/g)) {
    uses.set(name, (uses.get(name) || 0) + 1)
  }
  return Object.keys(spec.components.schemas).filter((name) => uses.get(name) > 1)
}

function show() {
  shared = sharedNames()
  const links = []
  const sections = []
  for (const [path, item] of Object.entries(spec.paths)) {
    for (const method of METHODS.filter((name) => item[name])) {
      const id = item[method].operationId
      links.push(element('li', {}, element('a', { href: '#' + id }, ...placeView(method, path))))
      sections.push(operationView(id, method, path, item[method]))
    }
  }
  document.getElementById('contents').replaceChildren(element('ul', {}, ...links))
  document.getElementById('operations').replaceChildren(...sections)
  document.getElementById('schemas').replaceChildren(...shared.map(schemaSection))
  // What the address points at was not there when the page was loaded.
  const target = location.hash && document.getElementById(location.hash.slice(1))
  if (target) target.scrollIntoView()
}

function addCopyButton(block) {
  const code = block.querySelector('code')
  const button = element('button', { type: 'button' }, 'Copy')
  button.addEventListener('click', () => {
    navigator.clipboard.writeText(code.textContent).then(() => button.replaceChildren('Copied'))
  })
  block.append(button)
}

for (const place of document.querySelectorAll('.origin')) place.replaceChildren(location.origin)
for (const block of document.querySelectorAll('pre.copyable')) addCopyButton(block)
fetch('/api/v1/spec').then((answer) => answer.json()).then((document_) => {
  spec = document_
  show()
}).catch((error) => {
  document.getElementById('operations').replaceChildren(String(error))
})
`
