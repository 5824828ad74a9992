import type { ChainCursor } from '#shared/db/scanning/cursor-model.ts'

export type { ChainCursor } from '#shared/db/scanning/cursor-model.ts'

/** `full`: every block is read. `thrifty`: those that open invoices need. */
export type ScanMode = NonNullable<ChainCursor['source']>
/** Positions of the looks at balances: of addresses whose invoice ended in the last day, and of all addresses. */
export type Looks = NonNullable<ChainCursor['looks']>
/** A block up to which balances were compared, and when that was done. */
export type LookPlace = Looks['all']
/** Why a scan cannot pass a block, from the first failure in a row to the last recorded one. */
export type ScanTrouble = NonNullable<ChainCursor['trouble']>
/** What a scanner measured of its chain: marks of height and time, looks at finality, the deepest reorganisation of 30 days. */
export type ChainMeasurements = NonNullable<ChainCursor['measured']>
/** An operator's release: deadlines of a stuck network take effect although its blocks were not read. */
export type DeadlineRelease = NonNullable<ChainCursor['released']>
