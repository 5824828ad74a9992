/** How many stories a property test of the state machine or of its figures plays: 1,000, or as many as the deep stage `properties` asks for. */
export const RUNS = { numRuns: Number(process.env['PROPERTY_RUNS'] ?? 1_000) }
