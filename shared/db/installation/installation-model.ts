import { DATE, defineCollection, optional, TEXT } from '#shared/db/connection/collection-model.ts'

/** A fact about the installation as a whole. */
export interface InstallationDocument {
  _id: string
  value: string
  /** A sealed value; the key canary only. */
  sealed?: string
  changedAt: Date
}

/** The installation collection: single facts by name. */
export const INSTALLATION = defineCollection<InstallationDocument>(
  'installation',
  { _id: TEXT, value: TEXT, sealed: optional(String), changedAt: DATE },
  [],
)
