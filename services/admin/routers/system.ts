import { router } from '../trpc.ts'

export const systemRouter = router({})
