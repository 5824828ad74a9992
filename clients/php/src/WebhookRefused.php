<?php

declare(strict_types=1);

namespace Paymesh;

/** The request is not from Paymesh, or too old: answer 400 and do nothing. */
final class WebhookRefused extends \RuntimeException
{
    public function __construct(public readonly string $reason)
    {
        parent::__construct("the webhook was refused: $reason");
    }
}
