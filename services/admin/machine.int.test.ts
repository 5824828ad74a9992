import type { CreateExpressContextOptions } from '@trpc/server/adapters/express'
import { beforeAll, expect, it } from 'vitest'
import { type AdminCaller, adminCaller } from '#test/support/admin.ts'
import { useStores } from '#test/support/stores.ts'
import { appRouter } from './app-router.ts'
import { type Machine, machineOf, machineSession } from './machine.ts'
import { createContextReader } from './request-context.ts'
import { createCallerFactory } from './trpc.ts'

const stores = useStores()
let owner: AdminCaller
beforeAll(async () => {
  owner = await adminCaller(stores)
})

const ACTOR = 'cli:anna'
function callerOf(machine: Machine | undefined) {
  const nothing = () => undefined
  const facts = { requestId: 'req_machine', ip: 'here', userAgent: 'vitest', device: null }
  const session = machineSession(ACTOR)
  return createCallerFactory(appRouter)({
    ...{ ...facts, session, machine, deps: owner.deps, setSessionToken: nothing, setDevice: nothing },
  })
}

// Guarantee: what the command line is exempt from is declared on its actor and nowhere else: its session has no rights.
it('may do everything by the exemptions of the actor, and nothing without them', async () => {
  const [free, bare] = [callerOf(machineOf(ACTOR)), callerOf(undefined)]
  expect((await free.wallets.list(owner.at)).items).toEqual([])
  expect((await free.exceptions.ofInstallation()).items).toEqual([])
  await expect(bare.wallets.list(owner.at)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(bare.exceptions.ofInstallation()).rejects.toMatchObject({ code: 'FORBIDDEN' })
})

it.each([
  ['membership', 'NOT_FOUND'],
  ['code', 'FORBIDDEN'],
  ['status', 'FORBIDDEN'],
] as const)('without the exemption from %s it is refused with %s', async (name, code) => {
  const { actor, exempt } = machineOf(ACTOR)
  const caller = callerOf({ actor, exempt: { ...exempt, [name]: false } })
  const endpoint = { url: 'https://93.184.216.34/hook', events: ['*'] }
  await owner.deps.workspaces.update(owner.workspaceId, { status: 'suspended' })
  const opId = owner.deps.random.uuid()
  await expect(caller.endpoints.create({ ...owner.at, opId, endpoint } as never)).rejects.toMatchObject({ code })
})

// Guarantee: no request of the network acts as the command line, whatever it sends.
it('is never the actor of a request', async () => {
  const headers = { cookie: 'machine=cli:root', machine: ACTOR, actor: ACTOR }
  const req = { headers, socket: { remoteAddress: '127.0.0.1' }, ip: '127.0.0.1', get: () => undefined }
  const context = await createContextReader(owner.deps)({ req, res: {} } as unknown as CreateExpressContextOptions)
  expect(context).not.toHaveProperty('machine')
  expect(context.session).toBeNull()
})
