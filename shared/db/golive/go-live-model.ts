import { z } from 'zod'
import { defineCollection, type StoredOf } from '#shared/db/connection/collection-model.ts'
import { OWNED_FIELDS, TIME, textAs } from '#shared/db/connection/stored-fields.ts'
import type { GoLiveReason } from '#shared/domain/golive/go-live.ts'

/** A few rows for each workspace and mode. */
export const GO_LIVE_RESULTS = defineCollection(
  'go_live_results',
  {
    /** `<workspace>:<mode>:<item>` */
    _id: z.string(),
    ...OWNED_FIELDS,
    item: z.string(),
    outcome: z.enum(['passed', 'failed', 'pending']),
    at: TIME,
    by: z.string(),
    evidence: z.string(),
    reason: textAs<GoLiveReason>().nullable().exactOptional(),
    about: z.string(),
    ref: z.string().nullable().exactOptional(),
  },
  [{ name: 'go_live_results_of', key: { workspaceId: 1, mode: 1 } }],
)

/** The newest result of one item of a workspace and mode. */
export type GoLiveDocument = StoredOf<typeof GO_LIVE_RESULTS>
