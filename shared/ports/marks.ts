import type { Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

/** The installation whose database this is, and the life of the database: a restore from an archive starts another one. */
export interface InstallationLife {
  readonly installation: string
  readonly life: string
  /** Raised in the store, then in the marks, whenever something was issued: marks with a higher one show that the store went back in time. */
  readonly beat: number
}

/** One fact outside the store: a number that only grows, and text where it names more than a number. */
export interface Mark {
  readonly field: string
  readonly value: number
  readonly detail?: string
}

/** Whose record of marks: one installation in one life of its database. */
export type MarkRecordId = Pick<InstallationLife, 'installation' | 'life'>

/** A place outside MongoDB that holds one record of marks for each life: signed texts by field, each beginning with its number. */
export interface MarkPlace {
  readonly name: 'redis' | 'folder'
  /** Texts of the given fields, or of all: each that a writer holds, because only the reader can say which one is signed. Rejects when the place does not answer. */
  read(record: MarkRecordId, fields: readonly string[] | 'all'): Promise<ReadonlyMap<string, readonly string[]>>
  /** The lives of an installation that have a record here. Rejects when the place does not answer, or not with all that was written to it. */
  lives(installation: string): Promise<readonly string[]>
  /** Keeps each text unless the place has one with a higher number. Resolves when it is durable. */
  raise(record: MarkRecordId, texts: ReadonlyMap<string, string>): Promise<void>
  /** Removes exactly these texts, by field. */
  remove(record: MarkRecordId, texts: ReadonlyMap<string, readonly string[]>): Promise<void>
}

/** Counters of an extended key that is not a sandbox key. */
export interface KeyCounters {
  readonly materialId: string
  readonly nextIndex: number
  readonly derivedCount: number
}

/** The highest number of an invoice series. */
export interface SeriesNumber {
  readonly workspaceId: string
  readonly mode: Mode
  readonly number: number
}

/** What a store that went back in time must stay above. */
export interface IssuedNumbers {
  /** Lowest index of a key that was surely never issued. */
  firstFree(key: KeyCounters): number
  /** Number above which a series continues. */
  lastNumber(series: SeriesNumber): number
  /** Highest number that the audit log had; infinity when that is not known. */
  readonly auditNumber: number
}

/** Wallets that were added before the store went back, and are not in it, may be added again with all that was issued of them. */
export interface LostWallets {
  /** Lowest index of a key that was surely never issued, where no mark says more. */
  readonly firstFree: number
  /** Until then an invoice that was lost may be paid at an address that is listed again. */
  readonly until: Ms
}

/** What was kept away from what had been issued. */
export interface Precautions {
  readonly keys: number
  /** Addresses of pools and single addresses that wait. */
  readonly addresses: number
  readonly numberSeries: number
  readonly scanners: number
}

/** Bounds that the store must have reached before a process issues from it. */
export interface Marks {
  /** Lowest `nextIndex` of a key from which indexes may be reserved: read before the store. Null: the store went back in time, and nothing is issued until its counters are above the marks. */
  lowestNextIndex(materialId: string): Promise<number | null>
  /** Lowest number above which invoices of a series continue; 0 unless the store went back in time. */
  lowestNumber(workspaceId: string, mode: Mode): Promise<number>
  /** Index from which a key that is added continues: everything below it may have been issued in this installation; 0 when nothing was. */
  firstFreeIndex(materialId: string): Promise<number>
  /** What a store that went back may lack; null when it lacks no act of a person. */
  lostWallets(): Promise<LostWallets | null>
  /** Records how far indexes may be issued, before the store says so. Best effort: an unreachable place does not stop issuing. */
  raiseCeiling(materialId: string, derivedCount: number): Promise<void>
  /** Whether the marks show a later state than the store has. False when no place answers. */
  isStoreBehind(): Promise<boolean>
}
