/** The least of a client: what a benchmark asks of a service. */

/** Sends a request below `/api/v1`. Throws when it fails. Returns: the answer, unread. */
export async function send(
  address: string,
  method: string,
  path: string,
  body?: object | string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const isText = typeof body === 'string'
  const response = await fetch(`${address}/api/v1${path}`, {
    method,
    headers: { ...(isText ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
  })
  if (response.ok) return response
  const text = await response.text()
  throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 300)}`)
}

/** Sends a request and returns what its answer says. */
export async function ask<T>(
  address: string,
  method: string,
  path: string,
  body?: object | string,
  headers?: Readonly<Record<string, string>>,
): Promise<T> {
  const response = await send(address, method, path, body, headers)
  return (await response.json()) as T
}

/** Reads an answer and throws it away. Returns: its lines. */
export async function countLines(response: Response): Promise<number> {
  let lines = 0
  if (response.body === null) return 0
  for await (const chunk of response.body) {
    for (let i = 0; i < chunk.length; i++) if (chunk[i] === 10) lines++
  }
  return lines
}
