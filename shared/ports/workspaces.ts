import type { GivenConfirmations } from '#shared/contracts/confirmation-text.ts'
import type { FiatCode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { WorkspaceStatus } from '#shared/domain/workspace-status.ts'
import type { AuditRecord } from './audit.ts'
import type { LogoFacts } from './logos.ts'
import type { Recorded } from './users.ts'

/** Per-workspace settings; every field has a default. */
export interface WorkspacePolicy {
  /** Missing part of an amount that still counts as paid, in basis points. Default 0. */
  readonly toleranceBps: number
  /** Default 3,600,000 (60 min). */
  readonly lateGraceMs: number
  /** Default 200 (2 %). */
  readonly lateDriftBps: number
  /** Part of a price, in basis points, that must have come for later money outside of every quote to have a claim on the last one. Default 500 (5 %). */
  readonly depositBps: number
  /** Life of an invoice without an asset. Default 86,400,000 (24 h). */
  readonly newLifeMs: number
  /** Length of a quote. Default 1,200,000 (20 min). */
  readonly quoteMs: number
  /** Spread added to the market rate, in basis points. Default 0. */
  readonly spreadBps: number
  /**
   * How long after a pooled address or a unique amount was returned only the exact amount settles the next invoice on it.
   * Default 604,800,000 (7 d), at least 24 h.
   */
  readonly quarantineMs: number
  /** Share of each pool and of the monthly plan that is reserved for the merchant's programs and not used by visitors of payment links, 0–90 percent. Default 50. */
  readonly reservePercent: number
  /** Accepting a shortfall, or opening refunds of an invoice, above this many US dollars needs a second factor and is mailed to every owner. Default 100; 0 = every one. */
  readonly largeSumUsd: number
  readonly arsSeries: 'crypto' | 'official'
  /** In which invoices of all currencies are added up; the rate is stored with each invoice. Default USD. */
  readonly reportingCurrency: FiatCode
  /**
   * Confirmations by asset id, overriding the registry's defaults: a whole number from 1, `finalized`, which also waits for the
   * chain's finality, or a table of them by value. Any other stored value is ignored.
   */
  readonly confirmations: Readonly<Record<string, GivenConfirmations>>
  /** Hour of the day, UTC, at which open exceptions are mailed to the owner; null = never. Default 7. */
  readonly digestHour: number | null
  /** How payers contact the merchant: an e-mail address, a telephone number or an https address. Empty = none is shown. */
  readonly supportContact: string
  /** The colour of payers' pages, `#rrggbb`; pages adjust it until text can be read. Empty = ours. */
  readonly brandColour: string
  /** The picture on payers' pages; its bytes are stored beside the workspace. Null = initials. */
  readonly logo: LogoFacts | null
  /** Members without an authenticator have no access to the workspace until they have one. Default false. */
  readonly requiresSecondFactor: boolean
}

export interface Workspace {
  readonly id: string
  readonly name: string
  readonly ownerEmail: string
  readonly status: WorkspaceStatus
  /** Null = no limit. */
  readonly limits: {
    readonly invoicesPerMonth: number | null
    readonly paymentLinks: number | null
    readonly webhookEndpoints: number | null
  }
  readonly policy: WorkspacePolicy
  /** Increases with each change that must take effect at once; compared with Redis by the rate script. */
  readonly epoch: number
  readonly createdAt: Ms
}

export interface WorkspaceRepository {
  /** Stores a workspace in one transaction with its audit row. */
  insert(workspace: Workspace, audit: AuditRecord): Promise<void>
  findById(id: string): Promise<Workspace | null>
  /** Several workspaces in one read; unknown ids are left out. */
  findMany(ids: readonly string[]): Promise<readonly Workspace[]>
  list(): Promise<readonly Workspace[]>
  /** How many workspaces are not suspended; counts no further than two. */
  countLive(): Promise<number>
  /**
   * Applies the given fields and increments `epoch`, together with the audit row and its mails if given; null when unknown. Limits and
   * policy are written whole, so a change made from a copy names its `epoch`: null also when that is not the workspace's any more.
   */
  update(
    id: string,
    change: Partial<Pick<Workspace, 'status' | 'limits' | 'policy' | 'name' | 'ownerEmail'>>,
    audit?: Recorded,
    epoch?: number,
  ): Promise<Workspace | null>
}
