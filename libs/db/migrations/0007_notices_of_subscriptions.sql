ALTER TABLE "subscriptions" ADD COLUMN "upcoming_days" integer DEFAULT 3 NOT NULL;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD COLUMN "remind_at" timestamp (3) with time zone;