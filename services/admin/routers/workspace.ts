import { router } from '../trpc.ts'

export const workspaceRouter = router({})
