import { COUNT, DATE, defineCollection, TEXT } from '#shared/db/connection/collection-model.ts'

/** A named lease; `epoch` increases with each new holder. */
export interface LeaseDocument {
  _id: string
  owner: string
  until: Date
  epoch: number
}

/** The leases collection: one document per named piece of work. */
export const LEASES = defineCollection<LeaseDocument>(
  'leases',
  { _id: TEXT, owner: String, until: DATE, epoch: COUNT },
  [],
)
