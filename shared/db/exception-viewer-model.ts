import type { ExceptionViewer } from '#shared/usecases/ports/exception-viewers.ts'
import { DATE, defineCollection, TEXT } from './collection-model.ts'

/** A stored connection of somebody who looks at an entry of the inbox. */
export type ExceptionViewerDocument = Omit<ExceptionViewer, 'id'> & { _id: string; seenAt: Date }

const HOUR_S = 3_600

/** The exception_viewers collection: one document per connection; what a killed process left is removed after an hour. */
export const EXCEPTION_VIEWERS = defineCollection<ExceptionViewerDocument>(
  'exception_viewers',
  { _id: TEXT, exceptionId: TEXT, workspaceId: TEXT, userId: TEXT, name: TEXT, seenAt: DATE },
  [
    { name: 'exception_viewer_entry', key: { exceptionId: 1, seenAt: 1 } },
    { name: 'exception_viewer_life', key: { seenAt: 1 }, expireAfterSeconds: HOUR_S },
  ],
)
