import { z } from 'zod'
import { boundedText, trimmedText } from '#shared/contracts/bounded-text.ts'
import type { GivenConfirmations } from '#shared/contracts/confirmation-text.ts'
import { parsePlainUrl } from '#shared/contracts/http/plain-url.ts'
import { isMailAddress } from '#shared/contracts/mail-address.ts'
import { isZone } from '#shared/contracts/zone-days.ts'
import { LIMITS, POLICY } from '#shared/db/workspaces/workspace-model.ts'
import {
  ASSET_IDS,
  type AssetId,
  FIAT_CODES,
  type Mode,
  NETWORK_IDS,
  WORKSPACE_STATUSES,
} from '#shared/domain/enumerations.ts'
import { INVOICE_LIFE_MAX_MS } from '#shared/domain/invoice/quote-window.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import { RESERVE_PERCENT_MAX } from '#shared/usecases/quotes/visitor-budget.ts'
import { changeLogo } from '#shared/usecases/workspaces/change-logo.ts'
import { changeSettings } from '#shared/usecases/workspaces/change-settings.ts'
import { actionOf } from '../action.ts'
import { announced } from '../announced.ts'
import type { AdminDeps } from '../assemble.ts'
import { router, workspaceMutation, workspaceQuery } from '../trpc.ts'

const MINUTE_MS = 60_000
const DAY_MS = 1_440 * MINUTE_MS
const bps = (max: number) => z.int().min(0).max(max)
const ms = (min: number, max: number) => z.int().min(min).max(max)
const count = z.union([z.int().min(1).max(10_000), z.literal('finalized')])
const tiers = z
  .array(z.strictObject({ fromUsd: z.int().min(0), confirmations: count }))
  .min(1)
  .max(20)
/** One figure for every value, or a table by value in whole US dollars. The workspace checks whether it fits an asset. */
const confirmations = z.union([count, tiers])
const CONTACT_FORM = 'Enter an email address, a phone number or an https link.'
/** A plain e-mail address, a telephone number or an https address that a payer can use. */
const contact = trimmedText(200, CONTACT_FORM).refine(isContact, CONTACT_FORM)

function isContact(text: string): boolean {
  const url = parsePlainUrl(text)
  if (url?.protocol === 'https:') return url.username === '' && url.password === ''
  return isMailAddress(text) || /^\+?[\d ()/-]{6,30}$/.test(text)
}

const colour = boundedText(7, 'Enter a colour as # and six digits, like #0b4f57.')
  .toLowerCase()
  .regex(/^#[0-9a-f]{6}$/, 'Enter a colour as # and six digits, like #0b4f57.')

const settings = z.object({
  id: z.string(),
  /** Sent back with a change, which is refused after a concurrent change. */
  version: z.number(),
  name: z.string(),
  ownerEmail: z.string(),
  status: z.enum(WORKSPACE_STATUSES),
  ...POLICY.shape,
  supportContact: z.string().nullable(),
  brandColour: z.string().nullable(),
  logo: z
    .object({ hash: z.string(), width: z.number(), height: z.number(), ground: z.enum(['light', 'dark']) })
    .nullable(),
  confirmations: z.array(
    z.object({
      asset: z.enum(ASSET_IDS),
      network: z.enum(NETWORK_IDS),
      own: confirmations.nullable(),
      /** Defaults without an own figure, by mode. */
      usual: z.object({ live: tiers, test: tiers }),
      knowsFinality: z.boolean(),
    }),
  ),
  limits: LIMITS,
})

const zoneName = boundedText(60).refine(isZone, 'Enter a time zone, like America/Bogota.')

/** A file in base64. Its size and kind are checked once it is decoded; this only bounds the text. */
const image = boundedText(900_000).regex(/^[A-Za-z0-9+/]+={0,2}$/, { error: 'Choose a PNG, JPEG or WebP file.' })

/** Fields to change; omitted fields stay unchanged. Null removes a value. */
const change = z
  .strictObject({
    name: trimmedText(120).min(1),
    supportContact: contact.nullable(),
    brandColour: colour.nullable(),
    requiresSecondFactor: z.boolean(),
    digestHour: z.int().min(0).max(23).nullable(),
    toleranceBps: bps(1_000),
    lateGraceMs: ms(0, 7 * DAY_MS),
    lateDriftBps: bps(1_000),
    depositBps: bps(10_000),
    newLifeMs: ms(5 * MINUTE_MS, INVOICE_LIFE_MAX_MS),
    quoteMs: ms(5 * MINUTE_MS, DAY_MS),
    spreadBps: bps(1_000),
    quarantineMs: ms(DAY_MS, 999 * DAY_MS),
    reservePercent: z.int().min(0).max(RESERVE_PERCENT_MAX),
    largeSumUsd: z.int().min(0).max(1_000_000),
    arsSeries: z.enum(['crypto', 'official']),
    reportingCurrency: z.enum(FIAT_CODES),
    timeZone: zoneName.nullable(),
    confirmations: z.partialRecord(z.enum(ASSET_IDS), confirmations.nullable()),
  })
  .partial()

/** A workspace and its settings. */
export const workspaceRouter = router({
  get: workspaceQuery('viewer')
    .output(settings)
    .query(({ ctx: { deps, workspace } }) => present(deps, workspace)),

  update: workspaceMutation('admin', { worksWhile: 'restricted', stepUp: true })
    .input(z.object({ version: z.int().min(0), change }))
    .output(settings)
    .mutation(async ({ ctx, input }) => {
      const { deps, workspace, operation } = ctx
      if (operation.isDone) return present(deps, workspace)
      const { name, supportContact, brandColour, timeZone, ...policy } = withoutAbsent(input.change)
      const wanted = {
        ...(name !== undefined && { name }),
        policy: {
          ...policy,
          ...(supportContact !== undefined && { supportContact: supportContact ?? '' }),
          ...(brandColour !== undefined && { brandColour: brandColour ?? '' }),
          ...(timeZone !== undefined && { timeZone: timeZone ?? '' }),
        },
      }
      const about = { workspaceId: workspace.id, version: input.version, change: wanted, action: actionOf(ctx, input) }
      return present(deps, await changeSettings({ ...deps, ...announced(ctx) }, about))
    }),

  /** Takes the zone of the browser of the first log-in; changes nothing once the workspace has one. */
  adoptZone: workspaceMutation('admin', { worksWhile: 'restricted' })
    .input(z.object({ zone: zoneName }))
    .output(settings)
    .mutation(async ({ ctx, input }) => {
      const { deps, workspace, operation } = ctx
      if (operation.isDone || workspace.policy.timeZone !== '') return present(deps, workspace)
      const change = { policy: { timeZone: input.zone } }
      const about = { workspaceId: workspace.id, version: workspace.epoch, change, action: actionOf(ctx, input) }
      return present(deps, await changeSettings({ ...deps, ...announced(ctx) }, about))
    }),

  /** The stored logo as a `data:` URL, for the preview; null without one. */
  logo: workspaceQuery('viewer')
    .output(z.object({ image: z.string().nullable() }))
    .query(async ({ ctx: { deps, workspace } }) => {
      const bytes = await deps.logos.findByWorkspace(workspace.id)
      return { image: bytes === null ? null : `data:image/webp;base64,${Buffer.from(bytes).toString('base64')}` }
    }),

  /** Replaces the logo by a file, or removes it. */
  setLogo: workspaceMutation('admin', { worksWhile: 'restricted', stepUp: true, work: 'image' })
    .input(z.object({ version: z.int().min(0), image: image.nullable() }))
    .output(settings)
    .mutation(async ({ ctx, input }) => {
      const { deps, workspace, operation } = ctx
      if (operation.isDone) return present(deps, workspace)
      const file = input.image === null ? null : Buffer.from(input.image, 'base64')
      const about = { workspaceId: workspace.id, version: input.version, file, action: actionOf(ctx, input) }
      return present(deps, await changeLogo({ ...deps, ...announced(ctx) }, about))
    }),
})

function present({ catalog }: Pick<AdminDeps, 'catalog'>, workspace: Workspace): z.output<typeof settings> {
  const { id, epoch: version, name, ownerEmail, status, policy, limits } = workspace
  const { supportContact, brandColour, confirmations: own, ...same } = policy
  const rows = ASSET_IDS.map((asset) => {
    const { network } = catalog.asset(asset)
    const usual = { live: tiersOf(catalog, asset, 'live'), test: tiersOf(catalog, asset, 'test') }
    return { asset, network, own: ownOf(own[asset]), usual, knowsFinality: catalog.knowsFinality(network) }
  })
  return {
    ...{ id, version, name, ownerEmail, status, limits, ...same },
    supportContact: supportContact === '' ? null : supportContact,
    brandColour: brandColour === '' ? null : brandColour,
    confirmations: rows,
  }
}

const tiersOf = ({ confirmationTiers }: AdminDeps['catalog'], asset: AssetId, mode: Mode) => [
  ...confirmationTiers(asset, mode),
]

/** A stored value may be older than the checks; an invalid one is ignored. */
function ownOf(stored: GivenConfirmations | undefined): z.output<typeof confirmations> | null {
  const read = confirmations.safeParse(stored)
  return read.success ? read.data : null
}

function withoutAbsent<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}
