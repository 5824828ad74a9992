import { DATE, defineCollection, OWNED_FIELDS, optional, TEXT } from '#shared/db/connection/collection-model.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { GoLiveResult } from '#shared/domain/golive/go-live.ts'

/** The newest result of one item of a workspace and mode. */
export type GoLiveDocument = Omit<GoLiveResult, 'at' | 'reason' | 'ref'> & {
  /** `<workspace>:<mode>:<item>` */
  _id: string
  workspaceId: string
  mode: Mode
  at: Date
  reason?: GoLiveResult['reason']
  ref?: string | null
}

/** A few rows for each workspace and mode. */
export const GO_LIVE_RESULTS = defineCollection<GoLiveDocument>(
  'go_live_results',
  {
    _id: TEXT,
    ...OWNED_FIELDS,
    item: TEXT,
    outcome: TEXT,
    at: DATE,
    by: TEXT,
    evidence: { type: String, required: false, default: '' },
    reason: optional(String),
    about: { type: String, required: false, default: '' },
    ref: optional(String),
  },
  [{ name: 'go_live_results_of', key: { workspaceId: 1, mode: 1 } }],
)
