/** As much of a browser's document as the documentation page's script asks for. */

/** An element: a name, attributes, children. */
export class PlainElement {
  readonly name: string
  readonly attributes = new Map<string, string>()
  children: (PlainElement | string)[] = []

  constructor(name: string) {
    this.name = name
  }

  setAttribute(name: string, value: string): void {
    this.attributes.set(name, value)
  }

  append(...children: (PlainElement | string)[]): void {
    this.children.push(...children)
  }

  replaceChildren(...children: (PlainElement | string)[]): void {
    this.children = children
  }

  /** The text of it and of all that is in it. */
  get textContent(): string {
    return this.children
      .map((child) => (typeof child === 'string' ? child : child.textContent))
      .join('')
  }

  /** All elements of a name in it. */
  all(name: string): PlainElement[] {
    const inner = this.children.filter((child) => typeof child !== 'string')
    return inner.flatMap((child) => [...(child.name === name ? [child] : []), ...child.all(name)])
  }
}

/** Runs a script of a page that has elements with these ids. Returns: them, once it is done. */
export async function runPageScript(
  script: string,
  ids: readonly string[],
  answer: unknown,
): Promise<ReadonlyMap<string, PlainElement>> {
  const places = new Map(ids.map((id) => [id, new PlainElement('div')]))
  const page = {
    createElement: (name: string) => new PlainElement(name),
    getElementById: (id: string) => places.get(id),
    querySelectorAll: () => [],
  }
  const fetched = { json: () => Promise.resolve(answer) }
  const run = new Function('document', 'location', 'fetch', script)
  run(page, { origin: 'here', hash: '' }, () => Promise.resolve(fetched))
  await new Promise((resolve) => setTimeout(resolve))
  return places
}
