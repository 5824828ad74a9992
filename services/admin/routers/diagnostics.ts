import { router } from '../trpc.ts'

export const diagnosticsRouter = router({})
