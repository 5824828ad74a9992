/**
 * The field in which a payer's page sends the id of its action. While both releases run, a page of this one may reach a checkout
 * of the release before 0.2, which knows this name only; both accept it. The release after 0.2 sends `actionId`.
 */
export const ACTION_FIELD = 'deed'
