import { z } from 'zod'
import type { GivenConfirmations } from '#shared/contracts/confirmation-text.ts'
import { defineCollection, type RecordOf, type StoredOf } from '#shared/db/connection/collection-model.ts'
import { objectAs, TIME } from '#shared/db/connection/stored-fields.ts'
import { FIAT_CODES, WORKSPACE_STATUSES } from '#shared/domain/enumerations.ts'
import type { LogoFacts } from '#shared/ports/logos.ts'

/** Per-workspace settings; every field has a default. */
export const POLICY = z.object({
  /** Missing part of an amount that still counts as paid, in basis points. Default 0. */
  toleranceBps: z.number(),
  /** Default 3,600,000 (60 min). */
  lateGraceMs: z.number(),
  /** Default 200 (2 %). */
  lateDriftBps: z.number(),
  /** Part of a price, in basis points, that must have come for later money outside of every quote to have a claim on the last one. Default 500 (5 %). */
  depositBps: z.number(),
  /** Life of an invoice without an asset. Default 86,400,000 (24 h). */
  newLifeMs: z.number(),
  /** Length of a quote. Default 1,200,000 (20 min). */
  quoteMs: z.number(),
  /** How far below the market coins are valued, in basis points. Default 0. */
  spreadBps: z.number(),
  /**
   * How long after a pooled address or a unique amount was returned only the exact amount settles the next invoice on it.
   * Default 604,800,000 (7 d), at least 24 h.
   */
  quarantineMs: z.number(),
  /** Share of each pool and of the monthly plan that is reserved for the merchant's programs and not used by visitors of payment links, 0–90 percent. Default 50. */
  reservePercent: z.number(),
  /** Accepting a shortfall, or opening refunds of an invoice, above this many US dollars needs a second factor and is mailed to every owner. Default 100; 0 = every one. */
  largeSumUsd: z.number(),
  arsSeries: z.enum(['crypto', 'official']),
  /** In which invoices of all currencies are added up; the rate is stored with each invoice. Default USD. */
  reportingCurrency: z.enum(FIAT_CODES),
  /** Days and months of reports and files are those of this zone, an IANA name. Empty until the first log-in, whose browser gives its own; UTC until then. */
  timeZone: z.string(),
  /**
   * Confirmations by asset id, overriding the registry's defaults: a whole number from 1, `finalized`, which also waits for the
   * chain's finality, or a table of them by value. Any other stored value is ignored.
   */
  confirmations: z.record(
    z.string(),
    z.custom<GivenConfirmations>().meta({ bsonType: ['number', 'string', 'object', 'array'] }),
  ),
  /** Hour of the day, UTC, at which open exceptions are mailed to the owner; null = never. Default 7. */
  digestHour: z.number().nullable(),
  /** How payers contact the merchant: an e-mail address, a telephone number or an https address. Empty = none is shown. */
  supportContact: z.string(),
  /** The colour of payers' pages, `#rrggbb`; pages adjust it until text can be read. Empty = ours. */
  brandColour: z.string(),
  /** The picture on payers' pages; its bytes are stored beside the workspace. Null = initials. */
  logo: objectAs<LogoFacts>().nullable(),
  /** Members without an authenticator have no access to the workspace until they have one. Default false. */
  requiresSecondFactor: z.boolean(),
})

/** What a plan allows. Null = no limit. */
export const LIMITS = z.object({
  invoicesPerMonth: z.number().nullable(),
  paymentLinks: z.number().nullable(),
  webhookEndpoints: z.number().nullable(),
})

/** The workspaces collection; small, read by id. */
export const WORKSPACES = defineCollection(
  'workspaces',
  {
    _id: z.string(),
    name: z.string(),
    ownerEmail: z.string(),
    status: z.enum(WORKSPACE_STATUSES),
    limits: LIMITS,
    policy: POLICY,
    /** Increases with each change that must take effect at once; compared with Redis by the rate script. */
    epoch: z.number(),
    planTurn: z.number().exactOptional(),
    createdAt: TIME,
  },
  [],
  { hidden: ['planTurn'] },
)

/** A stored workspace. */
export type WorkspaceDocument = StoredOf<typeof WORKSPACES>

/** A merchant with its own keys, wallets and invoices. */
export type Workspace = RecordOf<typeof WORKSPACES>
