import { initTRPC, TRPCError } from '@trpc/server'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { OperatorSession } from '#shared/ports/sessions.ts'
import type { Role } from '#shared/ports/users.ts'
import { createOperator } from '#shared/usecases/accounts/manage-operators.ts'
import { type AdminCaller, adminCaller } from '#test/support/admin.ts'
import { useStores } from '#test/support/stores.ts'
import { appRouter } from './app-router.ts'
import {
  type AdminContext,
  createCallerFactory,
  openProcedure,
  type ProcedureMeta,
  router,
  type StepUp,
} from './trpc.ts'

const stores = useStores()

/** Who asks: a role in the workspace of the input, a member of another one, who runs the installation, nobody. */
const PEOPLE = ['owner', 'admin', 'support', 'viewer', 'foreign', 'operator', 'nobody'] as const
type Person = (typeof PEOPLE)[number]
/** Where they are with their second factor. */
const FACTORS = ['none', 'pending', 'given', 'stepped-up'] as const
type Factor = (typeof FACTORS)[number]
type Outcome = 'UNAUTHORIZED' | 'NOT_FOUND' | 'FORBIDDEN' | 'passes'
const REFUSALS: readonly string[] = ['UNAUTHORIZED', 'NOT_FOUND', 'FORBIDDEN']

/** Who may do what is declared for a role; written down, because the gate's own order would agree with itself. */
const ALLOWED: Readonly<Record<Role, readonly Person[]>> = {
  owner: ['owner'],
  admin: ['owner', 'admin'],
  support: ['owner', 'admin', 'support'],
  viewer: ['owner', 'admin', 'support', 'viewer'],
}

/** What the declared access demands, written down once more and independently of the gate. */
function demanded({ access, stepUp }: ProcedureMeta, { person, factor, mode }: Omit<Cell, 'path'>): Outcome {
  if (access === 'anyone') return 'passes'
  if (person === 'nobody') return 'UNAUTHORIZED'
  if (access === 'pending') return factor === 'pending' ? 'passes' : 'UNAUTHORIZED'
  if (factor === 'pending') return 'UNAUTHORIZED'
  const isRequested = stepUp === true || (stepUp === 'live' && mode === 'live')
  const confirmed: Outcome = isRequested && factor !== 'stepped-up' ? 'FORBIDDEN' : 'passes'
  if (access === 'signedIn') return confirmed
  if (access === 'operator') return person === 'operator' ? confirmed : 'FORBIDDEN'
  if (person === 'foreign' || person === 'operator') return 'NOT_FOUND'
  return ALLOWED[access].includes(person) ? confirmed : 'FORBIDDEN'
}

let owner: AdminCaller
let foreign: AdminCaller
let userId: string
beforeAll(async () => {
  owner = await adminCaller(stores)
  foreign = await adminCaller(stores, { deps: () => owner.deps })
  const person = { email: owner.session.email, name: owner.session.name, password: 'four words are good' }
  const nothing = { isOperator: false, member: null, actor: 'test' }
  userId = (await createOperator(owner.deps, { ...person, ...nothing })).id
})

function sessionOf(person: Person, factor: Factor): OperatorSession | null {
  if (person === 'nobody') return null
  const place: [string, Role] | null =
    person === 'operator' ? null : person === 'foreign' ? [foreign.workspaceId, 'owner'] : [owner.workspaceId, person]
  return {
    ...owner.session,
    userId,
    isOperator: person === 'operator',
    roles: new Map(place === null ? [] : [place]),
    secondFactor: factor === 'stepped-up' ? 'given' : factor,
    steppedUpUntil: factor === 'stepped-up' ? owner.deps.clock.now() + 60_000 : null,
  }
}

function contextOf(session: OperatorSession | null): AdminContext {
  const nothing = () => undefined
  const facts = { requestId: 'req_matrix', ip: '127.0.0.1', userAgent: 'vitest', device: null }
  return { ...facts, session, deps: owner.deps, setSessionToken: nothing, setDevice: nothing }
}

type AnyRouter = Parameters<typeof createCallerFactory>[0]

interface Cell {
  readonly path: string
  readonly person: Person
  readonly factor: Factor
  readonly mode: Mode
}

/** What happens when this person asks with nothing but a workspace and a mode: no action can run, because each needs an `opId`. */
async function outcomeOf(tree: AnyRouter, { path, person, factor, mode }: Cell): Promise<Outcome> {
  let target: unknown = createCallerFactory(tree)(contextOf(sessionOf(person, factor)))
  for (const name of path.split('.')) target = (target as Record<string, unknown>)[name]
  try {
    const answer = await (target as (input: object) => Promise<unknown>)({
      workspaceId: owner.workspaceId,
      mode,
    })
    await endOf(answer)
    return 'passes'
  } catch (error) {
    if (!(error instanceof TRPCError)) throw error
    return REFUSALS.includes(error.code) ? (error.code as Outcome) : 'passes'
  }
}

/** A live view that was let in is closed again. */
async function endOf(answer: unknown): Promise<void> {
  if (typeof answer !== 'object' || answer === null || !(Symbol.asyncIterator in answer)) return
  await (answer as AsyncIterable<unknown>)[Symbol.asyncIterator]().return?.()
}

/** Both modes for what changes something; a read declares no step-up, so one mode shows what it lets in. */
const modesOf = ({ once, stepUp }: ProcedureMeta): readonly Mode[] =>
  once === true || stepUp !== false ? ['live', 'test'] : ['test']

/** Every cell of the matrix in which the gate does otherwise than the procedure declares, and every procedure that declares nothing. */
async function deviations(tree: AnyRouter): Promise<readonly string[]> {
  const found: string[] = []
  const procedures = tree._def.procedures as Readonly<
    Record<string, { readonly _def: { readonly meta?: ProcedureMeta } }>
  >
  for (const [path, { _def }] of Object.entries(procedures)) {
    const { meta } = _def
    if (meta === undefined) {
      found.push(`${path}: declares no access`)
      continue
    }
    for (const person of PEOPLE) {
      const cells = FACTORS.flatMap((factor) => modesOf(meta).map((mode) => ({ path, person, factor, mode })))
      const outcomes = await Promise.all(cells.map((cell) => outcomeOf(tree, cell)))
      for (const [index, cell] of cells.entries()) {
        const wanted = demanded(meta, cell)
        if (outcomes[index] !== wanted)
          found.push(`${path}: ${person}, ${cell.factor}: ${outcomes[index]} instead of ${wanted}`)
      }
    }
  }
  return found
}

describe('the authorisation matrix', () => {
  // Guarantee: every procedure lets in exactly whom it declares, for each role, foreign workspace and state of the second factor.
  test('every procedure × every person × every state of the second factor', { timeout: 180_000 }, async () => {
    expect(Object.keys(appRouter._def.procedures).length).toBeGreaterThan(20)
    expect(await deviations(appRouter as AnyRouter)).toEqual([])
  })

  test('it shows a procedure that declares more than it checks, and one that declares nothing', async () => {
    const lax = openProcedure.meta({ access: 'owner', stepUp: true, worksWhile: 'suspended' }).query(() => 1)
    const shown = await deviations(router({ lax }) as AnyRouter)
    expect(shown).toContain('lax: nobody, none: passes instead of UNAUTHORIZED')
    expect(shown).toContain('lax: foreign, stepped-up: passes instead of NOT_FOUND')
    expect(shown).toContain('lax: viewer, stepped-up: passes instead of FORBIDDEN')
    const onlyTest = openProcedure.meta({ access: 'signedIn', stepUp: 'live', worksWhile: null }).query(() => 1)
    const inLive = await deviations(router({ onlyTest }) as AnyRouter)
    expect(inLive.filter((line) => line === 'onlyTest: owner, given: passes instead of FORBIDDEN')).toHaveLength(1)
    const bare = initTRPC.context<AdminContext>().create()
    const undeclared = bare.router({ silent: bare.procedure.query(() => 1) })
    expect(await deviations(undeclared as unknown as AnyRouter)).toEqual(['silent: declares no access'])
  })
})

/** Decision 0053, written down once more: which changes of a workspace or an installation need a fresh code. */
const STEP_UP: Readonly<Record<string, StepUp>> = {
  'workspace.update': true,
  'workspace.setLogo': true,
  'members.invite': true,
  'members.withdrawInvitation': true,
  'members.setRole': true,
  'members.remove': true,
  'apiKeys.create': true,
  'apiKeys.revoke': true,
  'endpoints.create': true,
  'endpoints.update': true,
  'endpoints.setStatus': true,
  'endpoints.remove': true,
  'endpoints.rotate': true,
  'wallets.add': true,
  'wallets.disable': true,
  'wallets.enable': true,
  'invoices.eraseCustomer': 'live',
  'chains.request': 'live',
  'chains.cancel': 'live',
  'chains.releaseDeadlines': 'live',
  'rates.confirm': true,
  'exceptions.accept': 'largeSum',
  'exceptions.attach': 'largeSum',
  'exceptions.decideMany': 'largeSum',
  'payments.attach': 'largeSum',
  'invoices.openRefund': 'largeSum',
  'auth.removeAuthenticator': true,
  'auth.renewRecoveryCodes': true,
}

describe('what an authenticator is demanded for', () => {
  test('money policy, members, keys, endpoints, wallets, chains, rates, erasure, shortfalls and refunds, and nothing else', () => {
    const procedures = appRouter._def.procedures as unknown as Readonly<
      Record<string, { readonly _def: { readonly meta?: ProcedureMeta } }>
    >
    const declared = Object.entries(procedures).flatMap(([path, { _def }]) => {
      const stepUp = _def.meta?.stepUp ?? false
      return stepUp === false ? [] : [[path, stepUp] as const]
    })
    // Others may ask for more: what is listed here never asks for less.
    expect(Object.fromEntries(declared)).toMatchObject(STEP_UP)
  })

  // Guarantee: an input cannot talk its way into test mode.
  test('a change that needs a code in live mode needs it for every input but one that says test', async () => {
    const session = { ...owner.session, isOperator: true, steppedUpUntil: null }
    const caller = createCallerFactory(appRouter)(contextOf(session))
    const request = { opId: owner.deps.random.uuid(), network: 'ethereum', kind: 'rescan', from: 1, to: 2 }
    for (const mode of ['live', undefined, null, 'TEST', ['test']]) {
      const input = { ...request, mode } as unknown as Parameters<typeof caller.chains.request>[0]
      await expect(caller.chains.request(input)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    }
  })

  test('a step-up action tells a person without one to set it up, and a person with one to give a code', async () => {
    const input = { ...owner.at, opId: owner.deps.random.uuid(), name: 'Shop', scopes: ['invoices:read' as const] }
    const without = await adminCaller(stores, { secondFactor: 'none', steppedUp: false })
    await expect(without.caller.apiKeys.create({ ...input, ...without.at })).rejects.toMatchObject({
      code: 'FORBIDDEN',
      cause: { details: [{ path: 'secondFactor', message: 'needed' }] },
    })
    const withOne = await adminCaller(stores, { steppedUp: false })
    await expect(withOne.caller.apiKeys.create({ ...input, ...withOne.at })).rejects.toMatchObject({
      code: 'FORBIDDEN',
      cause: { details: [{ path: 'stepUp', message: 'needed' }] },
    })
  })

  test('a workspace that wants it shows nothing to members without one', async () => {
    const { caller, at, deps, session } = await adminCaller(stores)
    const { version } = await caller.workspace.get(at)
    const opId = deps.random.uuid()
    await caller.workspace.update({ ...at, opId, version, change: { requiresSecondFactor: true } })
    const bare = createCallerFactory(appRouter)(contextOf({ ...session, secondFactor: 'none', steppedUpUntil: null }))
    await expect(bare.workspace.get(at)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(bare.members.list(at)).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })

  test('nobody runs an installation in production with a password alone', async () => {
    const production = (wired: AdminCaller['deps']) => ({ config: { ...wired.config, env: 'production' as const } })
    const bare = await adminCaller(stores, { operator: true, secondFactor: 'none', deps: production })
    await expect(bare.caller.audit.listAll({})).rejects.toMatchObject({ code: 'FORBIDDEN' })
    const given = await adminCaller(stores, { operator: true, deps: production })
    await expect(given.caller.audit.listAll({})).resolves.toMatchObject({ nextCursor: null })
  })
})
