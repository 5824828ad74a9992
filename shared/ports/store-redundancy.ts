/** How much the store can lose before it fails. Null is what it does not say: to this user, or in this form of installation. */
export interface StoreRedundancy {
  /** Members of the replica set; null when this user may not read them. */
  readonly members: StoreMembers | null
  /** The primary's record of changes; null when this user may not read it. */
  readonly oplog: StoreOplog | null
  /** The file system of the primary's data, in bytes. */
  readonly disk: { readonly usedBytes: number; readonly totalBytes: number } | null
  /** True when the database user lacks the right to read members and oplog: the role `clusterMonitor` on `admin`. */
  readonly isDenied: boolean
}

/** Members of a replica set, as its primary sees them. */
export interface StoreMembers {
  readonly total: number
  readonly healthy: number
  /** `host:port: state` of each that is not healthy. */
  readonly faults: readonly string[]
  /** How far the slowest healthy member with data is behind the primary, milliseconds. A member with a configured delay is left out. */
  readonly lagMs: number
}

/** The oplog: a member, or a back-up of changes, that is further behind than it reaches cannot follow any more. */
export interface StoreOplog {
  /** Time between its oldest and its newest change, milliseconds. */
  readonly windowMs: number
  /** How often it was cut since the server started: while never, it holds all that happened since. */
  readonly truncations: number
}

/** Reads the redundancy of the store now. Rejects when the store does not answer; a missing right is part of the answer. */
export interface StoreRedundancyReader {
  read(): Promise<StoreRedundancy>
}
