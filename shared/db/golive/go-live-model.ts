import { z } from 'zod'
import { defineCollection } from '#shared/db/connection/collection-model.ts'
import { OWNED_FIELDS, TIME } from '#shared/db/connection/stored-fields.ts'

/** A few rows for each workspace and mode. */
export const GO_LIVE_STATEMENTS = defineCollection(
  'go_live_statements',
  {
    /** `<workspace>:<mode>:<item>` */
    _id: z.string(),
    ...OWNED_FIELDS,
    item: z.string(),
    at: TIME,
    by: z.string(),
    evidence: z.string(),
    holds: z.boolean(),
    ref: z.string().nullable(),
  },
  [{ name: 'go_live_statements_of', key: { workspaceId: 1, mode: 1 } }],
)
