/** Whether this run has every test and every case: `EVERY_CASE=1` of the stage `cases` of `npm run test:deep`. */
export const EVERY_CASE = process.env['EVERY_CASE'] === '1'
