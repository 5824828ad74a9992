import { router } from '../trpc.ts'

export const queuesRouter = router({})
