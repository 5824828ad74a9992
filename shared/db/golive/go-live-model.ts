import { DATE, defineCollection, OWNED_FIELDS, optional, TEXT } from '#shared/db/connection/collection-model.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { GoLiveStatement } from '#shared/domain/golive/go-live.ts'

/** The newest statement about one item of a workspace and mode. */
export type GoLiveDocument = Omit<GoLiveStatement, 'at' | 'ref'> & {
  /** `<workspace>:<mode>:<item>` */
  _id: string
  workspaceId: string
  mode: Mode
  at: Date
  ref?: string | null
}

/** A few rows for each workspace and mode. */
export const GO_LIVE_STATEMENTS = defineCollection<GoLiveDocument>(
  'go_live_statements',
  {
    _id: TEXT,
    ...OWNED_FIELDS,
    item: TEXT,
    at: DATE,
    by: TEXT,
    evidence: TEXT,
    holds: { type: Boolean, required: true },
    ref: optional(String),
  },
  [{ name: 'go_live_statements_of', key: { workspaceId: 1, mode: 1 } }],
)
