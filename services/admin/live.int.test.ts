import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, createServer as createPipe, type Socket } from 'node:net'
import { createTRPCClient, httpSubscriptionLink } from '@trpc/client'
import { EventSource } from 'eventsource'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { createOperator } from '#shared/usecases/accounts/manage-operators.ts'
import { type AdminCaller, adminCaller } from '#test/support/admin.ts'
import { sampleInvoice } from '#test/support/db-samples.ts'
import { useStores } from '#test/support/stores.ts'
import { createApp } from './app.ts'
import type { AppRouter } from './app-router.ts'

const stores = useStores()
let here: AdminCaller
let server: Server
let number = 0

beforeAll(async () => {
  here = await adminCaller(stores)
  server = createServer(createApp(here.deps))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  await here.deps.live.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

/** A way to the server that can be cut and opened again. */
async function openLine() {
  const sockets = new Set<Socket>()
  let isCut = false
  const pipe = createPipe((socket) => {
    if (isCut) return void socket.destroy()
    const upstream = connect((server.address() as AddressInfo).port, '127.0.0.1')
    for (const end of [socket, upstream]) {
      sockets.add(end)
      end.on('error', () => undefined)
    }
    socket.pipe(upstream).pipe(socket)
  })
  await new Promise<void>((resolve) => pipe.listen(0, '127.0.0.1', resolve))
  return {
    url: urlOf(pipe),
    cut: () => {
      isCut = true
      for (const socket of sockets) socket.destroy()
    },
    mend: () => {
      isCut = false
    },
    close: () => pipe.close(),
  }
}

/** Makes a person of the workspace and gives the cookie of their log-in. */
async function logIn(): Promise<string> {
  const { deps, workspaceId } = here
  const member = { workspaceId, role: 'viewer' as const }
  const person = { email: 'vera@example.com', name: 'Vera', password: 'correct-horse-battery', isOperator: false }
  await createOperator(deps, { ...person, member, actor: 'test' })
  const answer = await fetch(`${urlOf(server)}/auth.logIn`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: person.email, password: person.password }),
  })
  return answer.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ')
}

function urlOf(listening: { address(): unknown }): string {
  return `http://127.0.0.1:${(listening.address() as AddressInfo).port}/trpc`
}

async function createInvoice(): Promise<string> {
  number += 1
  const invoice = sampleInvoice(stores.runtime.random, { workspaceId: here.workspaceId, number, at: Date.now() })
  await createInvoiceRepository(stores.db).insert(invoice)
  return invoice.terms.id
}

/** Follows over a line; `until` resolves when the condition holds for what was told. */
function follow(line: { readonly url: string }, cookie: string) {
  const received: { readonly kind: string; readonly id: string }[] = []
  let failed: unknown = null
  let check: () => void = () => undefined
  class WithCookie extends EventSource {
    constructor(url: string | URL) {
      super(url, { fetch: (input, init) => fetch(input, { ...init, headers: { ...init?.headers, cookie } }) })
    }
  }
  const client = createTRPCClient<AppRouter>({
    links: [httpSubscriptionLink({ url: line.url, EventSource: WithCookie })],
  })
  const subscription = client.live.changes.subscribe(here.at, {
    onData: ({ data }) => {
      received.push(data)
      check()
    },
    onError: (error) => {
      failed = error
      check()
    },
  })
  const until = async (condition: () => boolean) =>
    await new Promise<void>((resolve) => {
      check = () => {
        if (condition()) resolve()
      }
      check()
    })
  return { received, failed: () => failed, until, stop: () => subscription.unsubscribe() }
}

/** Guarantee: an operator's page that lost its connection is told of every change it missed, without asking everything again. */
test('a page whose connection was cut goes on where it was', async () => {
  const line = await openLine()
  const { received, until, stop } = follow(line, await logIn())
  const ids = () => received.filter(({ kind }) => kind === 'invoice').map(({ id }) => id)
  await until(() => received.some(({ kind }) => kind === 'all'))
  const first = await createInvoice()
  await until(() => ids().includes(first))
  line.cut()
  const missed = [await createInvoice(), await createInvoice()]
  line.mend()
  await until(() => missed.every((id) => ids().includes(id)))
  expect(ids()).toEqual([first, ...missed])
  // Of a stream that began with it a page is told once, when the store is really followed: each time it reads everything.
  expect(received.filter(({ kind }) => kind === 'all')).toHaveLength(1)
  stop()
  line.close()
})

test('a stranger is refused', async () => {
  const line = await openLine()
  const { failed, until, stop } = follow(line, '')
  await until(() => failed() !== null)
  expect(failed()).toMatchObject({ data: { code: 'UNAUTHORIZED' } })
  stop()
  line.close()
})

/** Guarantee: who lost the session or the membership hears nothing more after a quarter of a minute. */
test('the stream ends with the session', async () => {
  let now = Date.now()
  const later = { now: () => (now += 20_000) }
  const made = await adminCaller(stores, { deps: () => ({ live: here.deps.live, clock: later }) })
  const listen = async () => {
    // The session of this caller was never stored: to the store it has ended.
    for await (const _signal of await made.caller.live.changes(made.at)) void now
  }
  await expect(listen()).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
})
