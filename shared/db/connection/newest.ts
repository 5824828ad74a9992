/**
 * Options of a read whose answer decides about money where no later write checks it, such as "nobody holds this address", or
 * that reads what a duplicate key proved to exist. A majority read may be of the past: a
 * primary that was suspended answers as if no other had been elected, and a new one shows for a moment less than was acknowledged. A linearizable
 * read is confirmed by the majority after it (MongoDB manual, "Read Concern linearizable", 2026-11): it has all that was acknowledged before it
 * began, or fails after 10 s. Only the first batch is confirmed, so the caller asks for all in one.
 */
export const NEWEST = { readConcern: { level: 'linearizable' }, maxTimeMS: 10_000 } as const
