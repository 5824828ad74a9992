import { router } from '../trpc.ts'

export const deliveriesRouter = router({})
