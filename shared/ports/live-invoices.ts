/** Shared by all watchers of invoices: one query for all of them. */
export interface InvoiceVersions {
  /** The current version of each of these invoices; unknown ids are left out. */
  versionsOf(ids: readonly string[]): Promise<ReadonlyMap<string, number>>
}
