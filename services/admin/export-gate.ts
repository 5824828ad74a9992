import { z } from 'zod'
import { router, workspaceQuery } from './trpc.ts'

/** Admits everyone who may read a workspace: for responses that are files and not procedures. */
export const exportGate = router({
  open: workspaceQuery('viewer')
    .output(z.literal(true))
    .query(() => true as const),
})
