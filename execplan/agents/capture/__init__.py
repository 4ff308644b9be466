"""Plans that agent programs write in their own plan mode: reading them, and keeping them as ExecPlans."""
