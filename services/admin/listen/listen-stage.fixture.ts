import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { EventSourceParserStream } from 'eventsource-parser/stream'
import type { Mode, Scope } from '#shared/domain/enumerations.ts'
import { testEvent } from '#shared/usecases/endpoints/test-event.ts'
import { adminCaller } from '#test/support/admin.ts'
import type { TestStores } from '#test/support/stores.ts'
import { createApp } from '../app.ts'

/** A received message of a stream. */
export interface StreamMessage {
  readonly name: string
  readonly id: string | null
  readonly data: Record<string, unknown>
}

/** The dashboard service behind real HTTP, with keys and stored events for listening. The caller closes it. */
export async function openListenStage(stores: TestStores) {
  const shop = await adminCaller(stores)
  const { deps } = shop
  const server = createServer(createApp(deps))
  server.on('request', (_request, response) => response.once('close', () => server.emit('hang-up')))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const request = (path: string, apiKey: string | null, init: RequestInit = {}) =>
    fetch(`${url}${path}`, {
      ...init,
      headers: { ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }), ...init.headers },
    })
  return {
    deps,
    shop,
    /** Emits `hang-up` when the connection of an answer closed. */
    server,
    url,
    request,
    /** A key of a workspace, and a function that revokes it. */
    key: async (owner: typeof shop, scopes: readonly Scope[], mode: Mode = 'test') => {
      const opId = deps.random.uuid()
      const made = await owner.caller.apiKeys.create({ ...owner.at, mode, opId, name: 'Laptop', scopes: [...scopes] })
      const { id: keyId, last4 } = made.key
      return {
        text: made.apiKey ?? '',
        revoke: () => owner.caller.apiKeys.revoke({ ...owner.at, mode, opId: deps.random.uuid(), keyId, last4 }),
      }
    },
    /** Stores an event as the outbox does, and returns its id. */
    store: async (workspaceId: string, mode: Mode = 'test'): Promise<string> => {
      const urls = { checkoutBaseUrl: 'https://pay.example.com' }
      const event = testEvent({ workspaceId, mode, opId: deps.random.uuid(), at: deps.clock.now(), urls })
      await deps.money.events.insertMany([event])
      return event.id
    },
    /** Opens a stream and reads it message by message; null at its end. */
    listen: async (apiKey: string, headers: Readonly<Record<string, string>> = {}, query = '') => {
      const cut = new AbortController()
      const response = await request(`/listen${query}`, apiKey, { headers, signal: cut.signal })
      if (response.body === null) throw new Error('no body')
      const reader = response.body
        .pipeThrough(new TextDecoderStream())
        .pipeThrough(new EventSourceParserStream())
        .getReader()
      const next = async (): Promise<StreamMessage | null> => {
        const { done, value } = await reader.read()
        return done ? null : { name: value.event ?? '', id: value.id ?? null, data: JSON.parse(value.data) }
      }
      const until = async (name: string): Promise<StreamMessage> => {
        for (let heard = await next(); heard !== null; heard = await next()) if (heard.name === name) return heard
        throw new Error(`the stream ended before ${name}`)
      }
      return { response, next, until, cut: () => cut.abort() }
    },
    close: async () => {
      await deps.listen.hub.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
