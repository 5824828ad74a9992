import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

// biome-ignore lint/suspicious/noExplicitAny: answers and events are data of every form.
type Json = any

/** The code that a later server has for an unknown invoice. */
export const LATER_CODE = 'NOT_FOUND_HERE'

/**
 * Values of a later server in the fields whose values may become more: every one that has `x-extensible-enum` in the document. `id` is one
 * of a currency, and `code` one of an error.
 */
export const LATER: Readonly<Record<string, string>> = {
  status: 'later_status',
  asset: 'new_chain',
  network: 'chain',
  currency: 'XTS',
  fiat: 'XTS',
  type: 'invoice.later',
  api_version: '2031-01-01',
  unavailable_reason: 'later_reason',
  source: 'later_source',
  mode: 'later_mode',
  events: 'invoice.later',
  id: 'new_chain',
  code: LATER_CODE,
}

/** What a later server may add to an event, one at a time and all at once. */
const ADDITIONS: Readonly<Record<string, (event: Json) => Json>> = {
  nothing: (event) => event,
  'a field': withField,
  'an event type': (event) => ({ ...event, type: LATER['type'] }),
  'an asset': (event) => replaced(event, ['asset', 'network']),
  'a currency': (event) => replaced(event, ['currency']),
  'a status': (event) => replaced(event, ['status']),
  'a version': (event) => ({ ...event, api_version: LATER['api_version'] }),
  'all of them': (event) => withField(replaced(event, Object.keys(LATER))),
}

/** Writes recorded events, as they are and as a later server may send them, into a folder; returns the paths. */
export function writeLaterEvents(recorded: readonly string[], folder: string): readonly string[] {
  mkdirSync(folder)
  return recorded.flatMap((path, index) =>
    Object.entries(ADDITIONS).map(([name, add]) => {
      const file = join(folder, `${index}-${name.replaceAll(' ', '-')}.json`)
      writeFileSync(file, JSON.stringify(add(JSON.parse(readFileSync(path, 'utf8')))))
      return file
    }),
  )
}

/**
 * The API at `target` as a later server: each object has one field more, each list an item whose statuses, assets, networks and currencies
 * are new, and the error of an unknown resource another code. Listens on a free loopback port.
 */
export async function startLaterServer(target: string) {
  const prefix = new URL(target).pathname
  const server = createServer((request, response) => {
    const relay = async (): Promise<void> => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const headers = ['authorization', 'content-type', 'idempotency-key'].flatMap((name) => {
        const value = request.headers[name]
        return typeof value === 'string' ? [[name, value] as [string, string]] : []
      })
      const body = chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}
      const url = target + (request.url ?? '').slice(prefix.length)
      const answer = await fetch(url, { method: request.method ?? 'GET', headers, ...body })
      const later = JSON.stringify(laterAnswer(await answer.json()))
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(later)
    }
    relay().catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}${prefix}`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

function laterAnswer(answer: Json): Json {
  const { data, error } = answer
  const [first] = Array.isArray(data) ? data : []
  const more = first === undefined ? {} : { data: [...data, replaced(first, Object.keys(LATER))] }
  const code = error?.code === 'NOT_FOUND' ? { error: { ...error, code: LATER_CODE } } : {}
  return withField({ ...answer, ...more, ...code })
}

/** Every object with one field more; texts under keys of the merchant stay texts. */
function withField(value: Json): Json {
  if (Array.isArray(value)) return value.map(withField)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).map(([key, each]) => [key, key === 'metadata' ? each : withField(each)])
  return { ...Object.fromEntries(fields), later_field: { deep: [1] } }
}

function replaced(value: Json, keys: readonly string[]): Json {
  if (Array.isArray(value)) return value.map((each) => replaced(each, keys))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => {
      // Only a currency has a name for its id; other ids are UUIDs.
      const isLater = keys.includes(key) && (key !== 'id' || value.object === 'currency')
      if (isLater && typeof each === 'string') return [key, LATER[key]]
      return [key, isLater && key === 'events' ? [...(each as Json), LATER[key]] : replaced(each, keys)]
    }),
  )
}
