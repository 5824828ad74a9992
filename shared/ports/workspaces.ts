import type { GivenConfirmations } from '#shared/contracts/confirmation-text.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ApiKeyRecord } from './api-keys.ts'
import type { AuditRecord } from './audit.ts'
import type { Recorded } from './users.ts'

/** Per-workspace settings; every field has a default. */
export interface WorkspacePolicy {
  /** Missing part of an amount that still counts as paid, in basis points. Default 0. */
  readonly toleranceBps: number
  /** Default 3,600,000 (60 min). */
  readonly lateGraceMs: number
  /** Default 200 (2 %). */
  readonly lateDriftBps: number
  /** Life of an invoice without an asset. Default 86,400,000 (24 h). */
  readonly newLifeMs: number
  /** Length of a quote. Default 1,200,000 (20 min). */
  readonly quoteMs: number
  /** Spread added to the market rate, in basis points. Default 0. */
  readonly spreadBps: number
  /**
   * How long after a pooled address or a unique amount was given back only the exact amount settles the next invoice on it.
   * Default 604,800,000 (7 d), at least 24 h.
   */
  readonly quarantineMs?: number
  /** Share of each pool and of the monthly plan that visitors of payment links leave to the merchant's programs, 0–90 percent. Default 50. */
  readonly reservePercent?: number
  /** Accepting a shortfall above so many US dollars needs a second factor and is mailed to every owner. Default 100; 0 = every one. */
  readonly shortfallStepUpUsd?: number
  readonly arsSeries: 'crypto' | 'official'
  /**
   * Confirmations by asset id, over the registry's defaults: a whole number from 1, `finalized`, which waits for the
   * chain's own finality besides these, or a table of them by value. What is stored otherwise counts as not given.
   */
  readonly confirmations: Readonly<Record<string, GivenConfirmations>>
  /** Hour of the day, UTC, at which open exceptions are mailed to the owner; null = never. Absent = 7. */
  readonly digestHour?: number | null
  /** How payers reach the merchant: an e-mail address, a telephone number or an https address. Absent or empty = none is shown. */
  readonly supportContact?: string
  /** Members without an authenticator see nothing of the workspace until they have one. Absent = they may. */
  readonly requiresSecondFactor?: boolean
}

export interface Workspace {
  readonly id: string
  readonly name: string
  readonly ownerEmail: string
  readonly status: 'active' | 'restricted' | 'suspended'
  /** Null = no limit. */
  readonly limits: {
    readonly invoicesPerMonth: number | null
    readonly paymentLinks: number | null
    readonly webhookEndpoints: number | null
  }
  readonly policy: WorkspacePolicy
  /** Rises with each change that must be seen at once; compared with Redis by the rate script. */
  readonly epoch: number
  readonly createdAt: Ms
}

export interface WorkspaceRepository {
  /** Together with the audit row where one is given. */
  insert(workspace: Workspace, audit?: AuditRecord): Promise<void>
  findById(id: string): Promise<Workspace | null>
  /** Several workspaces in one read; unknown ids are left out. */
  findMany(ids: readonly string[]): Promise<readonly Workspace[]>
  list(): Promise<readonly Workspace[]>
  /** How many workspaces are not suspended; counts no further than two. */
  countLive(): Promise<number>
  /** Applies the given fields and raises `epoch`, together with the audit row and its mails where they are given; null when unknown. */
  update(
    id: string,
    change: Partial<Pick<Workspace, 'status' | 'limits' | 'policy' | 'name' | 'ownerEmail'>>,
    audit?: Recorded,
  ): Promise<Workspace | null>
}

/** Deeds of people on keys and settings: each with its audit row in the same transaction. */
export interface TenancyDeeds {
  /** Stores a new key; false when this deed was done before. */
  issueKey(key: ApiKeyRecord, audit: Recorded): Promise<boolean>
  findKey(id: string): Promise<ApiKeyRecord | null>
  /** Revokes a key that lives; false when it was revoked already. */
  revokeKey(id: string, at: Ms, audit: Recorded): Promise<boolean>
  /** Applies the given fields while `epoch` is still the workspace's, and raises it; null when it is not. */
  changeWorkspace(
    id: string,
    epoch: number,
    change: Partial<Pick<Workspace, 'policy' | 'name' | 'ownerEmail'>>,
    audit: Recorded,
  ): Promise<Workspace | null>
}
