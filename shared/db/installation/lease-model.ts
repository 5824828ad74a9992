import { z } from 'zod'
import { defineCollection } from '#shared/db/connection/collection-model.ts'
import { TIME } from '#shared/db/connection/stored-fields.ts'

/** The leases collection: one document per named piece of work. */
export const LEASES = defineCollection(
  'leases',
  {
    _id: z.string(),
    owner: z.string(),
    until: TIME,
    /** Increases with each new holder. */
    epoch: z.number(),
  },
  [],
)
