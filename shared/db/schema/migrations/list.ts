import type { Migration } from './migration.ts'

/** Every migration since the first release, in their order. */
export const MIGRATIONS: readonly Migration[] = []

/** The data version that this code creates and works on. */
export const NEWEST_SCHEMA: number = MIGRATIONS.at(-1)?.id ?? 0
