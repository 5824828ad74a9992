import { z } from 'zod'
import { defineCollection, type StoredOf } from '#shared/db/connection/collection-model.ts'
import { TIME } from '#shared/db/connection/stored-fields.ts'

/** The installation collection: single facts by name. */
export const INSTALLATION = defineCollection(
  'installation',
  {
    _id: z.string(),
    value: z.string(),
    /** A sealed value; the key canary only. */
    sealed: z.string().exactOptional(),
    changedAt: TIME,
  },
  [],
)

/** A fact about the installation as a whole. */
export type InstallationDocument = StoredOf<typeof INSTALLATION>
