/** An isolate's inspector: its memory, and where its time goes. */

const PING_EVERY_MS = 50
const SAMPLE_EVERY_MICROS = 1000
const ATTEMPT_COUNT_MAX = 10

/** A function and the part of an isolate's busy time that it took itself. */
export interface SelfTime {
  /** Its name, and where it is in the bundle. */
  readonly name: string
  readonly share: number
  /** The same with what it calls. */
  readonly wholeShare: number
}

/** What is told when the connection ends: it does, now and then, while an isolate is busy. */
export class InspectorHungUp extends Error {
  constructor() {
    super('the inspector hung up')
  }
}

type Ask = (method: string, params?: object) => Promise<Record<string, unknown>>

/**
 * Bytes that live JavaScript and its buffers take after a forced collection. Asks again when the
 * inspector hangs up.
 */
export async function heapBytes(inspectorUrl: string, pingUrl: string): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await withInspector(inspectorUrl, pingUrl, heapBytesOf)
    } catch (error) {
      if (!(error instanceof InspectorHungUp) || attempt === ATTEMPT_COUNT_MAX) throw error
    }
  }
}

async function heapBytesOf(ask: Ask): Promise<number> {
  await ask('HeapProfiler.enable')
  await ask('HeapProfiler.collectGarbage')
  const usage = await ask('Runtime.getHeapUsage')
  return Number(usage.usedSize) + Number(usage.backingStorageSize ?? 0)
}

/** Which functions took how much of an isolate's busy time while something went on, most first. */
export function selfTimes(
  inspectorUrl: string,
  pingUrl: string,
  work: () => Promise<unknown>,
): Promise<SelfTime[]> {
  return withInspector(inspectorUrl, pingUrl, async (ask) => {
    await ask('Profiler.enable')
    await ask('Profiler.setSamplingInterval', { interval: SAMPLE_EVERY_MICROS })
    await ask('Profiler.start')
    await work()
    const { profile } = await ask('Profiler.stop')
    return summedTimes(profile as Profile)
  })
}

interface Profile {
  readonly nodes: readonly ProfileNode[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

interface ProfileNode {
  readonly id: number
  readonly children?: readonly number[]
  readonly callFrame: {
    readonly functionName: string
    readonly url: string
    readonly lineNumber: number
  }
}

function summedTimes({ nodes, samples, timeDeltas }: Profile): SelfTime[] {
  const names = new Map(nodes.map((node) => [node.id, nameOf(node)]))
  const parents = new Map<number, number>()
  for (const { id, children = [] } of nodes) for (const child of children) parents.set(child, id)
  const own = new Map<string, number>()
  const whole = new Map<string, number>()
  let busy = 0
  for (const [i, id] of samples.entries()) {
    const name = names.get(id) ?? ''
    if (name === '(idle)' || name === '(root)') continue
    // A delta is the time before its sample: the next one is what the sample stands for.
    const micros = Math.max(timeDeltas[i + 1] ?? 0, 0)
    busy += micros
    own.set(name, (own.get(name) ?? 0) + micros)
    const stack = new Set<string>()
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      stack.add(names.get(at) ?? '')
    }
    for (const caller of stack) whole.set(caller, (whole.get(caller) ?? 0) + micros)
  }
  return [...own]
    .map(([name, micros]) => {
      return { name, share: micros / busy, wholeShare: (whole.get(name) ?? 0) / busy }
    })
    .sort((a, b) => b.share - a.share)
}

function nameOf({ callFrame: { functionName, url, lineNumber } }: ProfileNode): string {
  const place = url === '' ? '' : ` ${url.slice(url.lastIndexOf('/') + 1)}:${lineNumber + 1}`
  return `${functionName === '' ? 'anonymous' : functionName}${place}`
}

async function withInspector<T>(
  inspectorUrl: string,
  pingUrl: string,
  work: (ask: Ask) => Promise<T>,
): Promise<T> {
  const socket = new WebSocket(inspectorUrl)
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true })
    socket.addEventListener('error', reject, { once: true })
    socket.addEventListener('close', () => reject(new InspectorHungUp()), { once: true })
  })
  let id = 0
  try {
    return await work((method, params = {}) =>
      heard(pingUrl, inspect(socket, { id: ++id, method, params })),
    )
  } finally {
    socket.close()
  }
}

/** Waits for an answer. An isolate that has nothing to do does not hear its inspector. */
async function heard<T>(pingUrl: string, answer: Promise<T>): Promise<T> {
  let isHeard = false
  const done = () => {
    isHeard = true
  }
  const hearing = answer.then(done, done)
  while (!isHeard) {
    await (await fetch(pingUrl)).text()
    await Promise.race([hearing, new Promise((resolve) => setTimeout(resolve, PING_EVERY_MS))])
  }
  return answer
}

interface Question {
  readonly id: number
  readonly method: string
  readonly params: object
}

function inspect(socket: WebSocket, question: Question): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    const hangUp = () => reject(new InspectorHungUp())
    // What is sent then is lost without a word.
    if (socket.readyState !== WebSocket.OPEN) hangUp()
    const hear = (event: MessageEvent): void => {
      const message = JSON.parse(String(event.data)) as { id?: number; result?: object }
      if (message.id !== question.id) return
      socket.removeEventListener('message', hear)
      socket.removeEventListener('close', hangUp)
      resolve((message.result ?? {}) as Record<string, unknown>)
    }
    socket.addEventListener('message', hear)
    socket.addEventListener('close', hangUp)
    socket.send(JSON.stringify(question))
  })
}
