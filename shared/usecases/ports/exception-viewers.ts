import type { Ms } from '#shared/domain/invoice/model.ts'

/** One connection by which a person has an entry of the inbox in front of them. */
export interface ExceptionViewer {
  readonly id: string
  readonly exceptionId: string
  readonly workspaceId: string
  readonly userId: string
  readonly name: string
}

/** Who else is asked for, and since when a connection must have been heard of. */
export interface OtherViewersQuery extends Pick<ExceptionViewer, 'exceptionId' | 'workspaceId' | 'userId'> {
  readonly seenAfter: Ms
}

/** Who has which entry of the inbox open. A hint for people: nothing is decided by it, and it may be some seconds old. */
export interface ExceptionViewers {
  /** Says that a connection is there at this time; repeated while it lasts. */
  keep(viewer: ExceptionViewer, at: Ms): Promise<void>
  /** Forgets a connection; one that is not known is no error. */
  leave(id: string): Promise<void>
  /** Names of the people other than `userId`, in order, each person once however many connections they have; at most 20. */
  listOthers(query: OtherViewersQuery): Promise<readonly string[]>
}
