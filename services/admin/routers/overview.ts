import { router } from '../trpc.ts'

export const overviewRouter = router({})
