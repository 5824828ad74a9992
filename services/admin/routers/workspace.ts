import { z } from 'zod'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { ASSET_IDS, NETWORK_IDS } from '#shared/domain/enumerations.ts'
import { changeSettings } from '#shared/usecases/change-settings.ts'
import type { Workspace } from '#shared/usecases/ports/tenancy.ts'
import { DIGEST_HOUR_DEFAULT } from '#shared/usecases/send-digests.ts'
import type { AdminDeps } from '../admin-deps.ts'
import { deedOf } from '../deed.ts'
import { router, workspaceDeed, workspaceQuery } from '../trpc.ts'

const MINUTE_MS = 60_000
const DAY_MS = 1_440 * MINUTE_MS
/** As when a stored policy says nothing: seven days. */
const QUARANTINE_DEFAULT_MS = 7 * DAY_MS
const bps = (max: number) => z.int().min(0).max(max)
const ms = (min: number, max: number) => z.int().min(min).max(max)
const confirmations = z.union([z.int().min(1).max(10_000), z.literal('finalized')])
/** A plain e-mail address, a telephone number or an https address: what a payer can use. */
const contact = z
  .string()
  .trim()
  .max(200)
  .regex(/^([^\s@<>"]+@[^\s@<>"]+\.[^\s@<>"]+|\+?[\d ()/-]{6,30}|https:\/\/[^\s<>"]{4,})$/, {
    error: 'Give an e-mail address, a telephone number or an https address.',
  })

const settings = z.object({
  id: z.string(),
  /** Sent back with a change, which is refused when somebody else was faster. */
  version: z.number(),
  name: z.string(),
  ownerEmail: z.string(),
  status: z.enum(['active', 'restricted', 'suspended']),
  supportContact: z.string().nullable(),
  requiresSecondFactor: z.boolean(),
  /** Hour of the daily mail about open exceptions, UTC; null = none. */
  digestHour: z.number().nullable(),
  toleranceBps: z.number(),
  lateGraceMs: z.number(),
  lateDriftBps: z.number(),
  newLifeMs: z.number(),
  quoteMs: z.number(),
  spreadBps: z.number(),
  quarantineMs: z.number(),
  arsSeries: z.enum(['crypto', 'official']),
  confirmations: z.array(
    z.object({
      asset: z.enum(ASSET_IDS),
      network: z.enum(NETWORK_IDS),
      own: confirmations.nullable(),
      /** What counts without an own figure, by mode. */
      usual: z.object({ live: z.number(), test: z.number() }),
      knowsFinality: z.boolean(),
    }),
  ),
  limits: z.object({
    invoicesPerMonth: z.number().nullable(),
    paymentLinks: z.number().nullable(),
    webhookEndpoints: z.number().nullable(),
  }),
})

/** Fields to change; what is left out stays. Null takes a value away. */
const change = z
  .object({
    name: z.string().trim().min(1).max(120),
    supportContact: contact.nullable(),
    requiresSecondFactor: z.boolean(),
    digestHour: z.int().min(0).max(23).nullable(),
    toleranceBps: bps(1_000),
    lateGraceMs: ms(0, 7 * DAY_MS),
    lateDriftBps: bps(1_000),
    newLifeMs: ms(5 * MINUTE_MS, 30 * DAY_MS),
    quoteMs: ms(5 * MINUTE_MS, DAY_MS),
    spreadBps: bps(1_000),
    quarantineMs: ms(DAY_MS, 999 * DAY_MS),
    arsSeries: z.enum(['crypto', 'official']),
    confirmations: z.partialRecord(z.enum(ASSET_IDS), confirmations.nullable()),
  })
  .partial()

/** A workspace and its settings. */
export const workspaceRouter = router({
  get: workspaceQuery('viewer')
    .output(settings)
    .query(({ ctx: { deps, workspace } }) => present(deps, workspace)),

  update: workspaceDeed('admin')
    .input(z.object({ version: z.int().min(0), change }))
    .output(settings)
    .mutation(async ({ ctx, input }) => {
      const { deps, workspace, session, operation } = ctx
      if (operation.isDone) return present(deps, workspace)
      const { name, supportContact, ...policy } = withoutAbsent(input.change)
      const wanted = {
        ...(name !== undefined && { name }),
        policy: { ...policy, ...(supportContact !== undefined && { supportContact: supportContact ?? '' }) },
      }
      if (input.change.requiresSecondFactor === true && session.secondFactor !== 'given') throw lockedOut()
      const about = { workspaceId: workspace.id, version: input.version, change: wanted, deed: deedOf(ctx, input) }
      return present(deps, await changeSettings(deps, about))
    }),
})

function present({ catalog }: Pick<AdminDeps, 'catalog'>, workspace: Workspace): z.output<typeof settings> {
  const { id, epoch: version, name, ownerEmail, status, policy, limits } = workspace
  const { supportContact, requiresSecondFactor, quarantineMs, confirmations: own, ...same } = policy
  const tiers = ASSET_IDS.map((asset) => {
    const { network } = catalog.asset(asset)
    const usual = { live: catalog.confirmations(asset, 'live'), test: catalog.confirmations(asset, 'test') }
    return { asset, network, own: own[asset] ?? null, usual, knowsFinality: catalog.knowsFinality(network) }
  })
  return {
    ...{ id, version, name, ownerEmail, status, limits, ...same },
    supportContact: supportContact === undefined || supportContact === '' ? null : supportContact,
    requiresSecondFactor: requiresSecondFactor === true,
    digestHour: policy.digestHour === undefined ? DIGEST_HOUR_DEFAULT : policy.digestHour,
    quarantineMs: quarantineMs ?? QUARANTINE_DEFAULT_MS,
    confirmations: tiers,
  }
}

function withoutAbsent<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}

function lockedOut(): PaymeshError {
  return new PaymeshError('INVALID_STATE', {
    message: 'Set up your own authenticator first, or you would see nothing of this workspace any more.',
  })
}
