DROP INDEX "attention_items_open";--> statement-breakpoint
ALTER TABLE "attention_items" ADD COLUMN "about" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "charge_stops" ADD COLUMN "paced_at" timestamp (6) with time zone;--> statement-breakpoint
ALTER TABLE "charges" ADD COLUMN "reconciled_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "payment_intents" ADD COLUMN "stopped_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "payment_intents" ADD COLUMN "stopped_by" uuid[];--> statement-breakpoint
ALTER TABLE "payment_processors" ADD COLUMN "credentials_overlap_until" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "reconciliations" ADD COLUMN "night" text;--> statement-breakpoint
ALTER TABLE "reconciliations" ADD COLUMN "claim_token" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "reconciliations" ADD COLUMN "claimed_until" timestamp (6) with time zone;--> statement-breakpoint
CREATE INDEX "charge_stops_draining" ON "charge_stops" USING btree ("id") WHERE lifted_at is not null and drained_at is null;--> statement-breakpoint
CREATE INDEX "payment_intents_stopped" ON "payment_intents" USING btree ("account_id","id") WHERE stopped_at is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "reconciliations_night" ON "reconciliations" USING btree ("processor_id","night");--> statement-breakpoint
CREATE INDEX "reconciliations_running" ON "reconciliations" USING btree ("id") WHERE status = 'running';--> statement-breakpoint
CREATE INDEX "refunds_failed" ON "refunds" USING btree ("updated_at") WHERE status = 'failed';--> statement-breakpoint
CREATE UNIQUE INDEX "attention_items_open" ON "attention_items" USING btree ("type","object_id","about") WHERE resolved_at is null;