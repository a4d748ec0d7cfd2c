/** Requests over HTTP/1.1 with connections that stay open. */

import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Transport, TransportAnswer, TransportRequest } from './transport.ts'

/** See OpenTransport. */
export function openHttpTransport(address: URL, idleMs: number): Transport {
  const isSecure = address.protocol === 'https:'
  const agent = isSecure ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true })
  const send = isSecure ? httpsRequest : httpRequest
  const base = address.href.replace(/\/+$/, '')
  return {
    send: ({ method, path, headers, body }: TransportRequest): Promise<TransportAnswer> =>
      new Promise((resolve, reject) => {
        const options = { method, agent, headers: { ...headers, ...lengthOf(body) } }
        const sent = send(`${base}${path}`, options, (answer) => resolve(answerOf(answer)))
        sent.setTimeout(idleMs, () => {
          sent.destroy(new Error(`nothing was heard for ${idleMs} ms`))
        })
        sent.on('error', reject)
        for (const part of body) sent.write(part)
        sent.end()
      }),
    close: () => agent.destroy(),
  }
}

function lengthOf(body: readonly Uint8Array[]): Record<string, string> {
  if (body.length === 0) return {}
  return { 'content-length': String(body.reduce((sum, part) => sum + part.length, 0)) }
}

function answerOf(answer: IncomingMessage): TransportAnswer {
  return {
    status: answer.statusCode ?? 0,
    header: (name) => {
      const value = answer.headers[name]
      return Array.isArray(value) ? value.join(', ') : value
    },
    body: answer,
  }
}
